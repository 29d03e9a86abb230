// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Confidence intervals of quantiles.

#ifndef DISTBENCH_STATS_QUANTILE_INTERVAL_H_
#define DISTBENCH_STATS_QUANTILE_INTERVAL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "distbench/stats/outcomes.h"

namespace distbench::stats {

// A confidence interval of a quantile: it contains the true value with the
// given confidence.
struct QuantileInterval {
  enum class Method {
    // Distribution-free, from the ranks of independent values: the number of
    // values below the quantile is binomial. H. A. David and H. N. Nagaraja,
    // Order Statistics, 3rd ed., Wiley 2003, section 7.1.
    kOrderStatistics,

    // From the spread between blocks of consecutive values, because the
    // latencies within a block may be correlated: the interval of the share of
    // values below the estimate, mapped back to values. R. S. Woodruff,
    // Confidence Intervals for Medians and Other Position Measures, JASA 47
    // (1952) 635-646, with the variance of non-overlapping batch means: B.
    // Schmeiser, Batch Size Effects in the Analysis of Simulation Output,
    // Operations Research 30 (1982) 556-568.
    kBlocks,
  };

  // Absent if there are too few values for a bound on that side. kFailed if the
  // bound falls among the requests that failed.
  std::optional<int64_t> lower;
  std::optional<int64_t> upper;
  Method method = Method::kOrderStatistics;
};

// Positions in the sorted values, from 1. If there is no such bound, lower is
// 0, or upper is count + 1.
struct RankInterval {
  int64_t lower;
  int64_t upper;
};

// Returns the ranks of the order-statistics interval. Requires count >= 0 and
// the other two in (0, 1).
RankInterval OrderStatisticRanks(int64_t count, double quantile,
                                 double confidence);

// Student's t distribution allows for few blocks, but not for fewer than these;
// more blocks are too short to be independent of each other.
inline constexpr int kMinBlocks = 4;
inline constexpr int kMaxBlocks = 30;

// Groups consecutive outcomes into at most kMaxBlocks blocks of equally many
// entries. Returns none if fewer than kMinBlocks outcomes are non-empty.
std::vector<Outcomes> MakeBlocks(absl::Span<const OutcomesView> consecutive);

// Returns the confidence interval of a quantile of `all`. If MakeBlocks() made
// blocks of the same outcomes, each bound is the wider one of both methods,
// because few values beyond a quantile say little about the spread between
// blocks. Bounds are as exact as the histogram.
QuantileInterval IntervalOfQuantile(const Outcomes& all,
                                    absl::Span<const Outcomes> blocks,
                                    double quantile, double confidence);

// Whether `count` values are enough for the quantile: at least one of them is
// expected above it.
bool SupportsQuantile(uint64_t count, double quantile);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_QUANTILE_INTERVAL_H_
