// How well a run knows a quantile.

#ifndef DISTBENCH_STATS_QUANTILE_INTERVAL_H_
#define DISTBENCH_STATS_QUANTILE_INTERVAL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "distbench/stats/outcomes.h"

namespace distbench {

// An interval that contains the true quantile with a given confidence.
struct QuantileInterval {
  enum class Method {
    // Distribution-free, from the ranks of independent values: the number of
    // values below the quantile is binomial. H. A. David and H. N. Nagaraja,
    // Order Statistics, 3rd ed., Wiley 2003, section 7.1.
    kOrderStatistics,

    // From the spread between blocks of consecutive values, so that values
    // within a block may depend on each other, as latencies do: the interval of
    // the share of values below the estimate, mapped back to values. R. S.
    // Woodruff, Confidence Intervals for Medians and Other Position Measures,
    // JASA 47 (1952) 635-646, with the variance of non-overlapping batch means:
    // B. Schmeiser, Batch Size Effects in the Analysis of Simulation Output,
    // Operations Research 30 (1982) 556-568.
    kBlocks,
  };

  // Absent: there are too few values for a bound on that side. kFailed: the
  // bound falls among the requests that failed.
  std::optional<int64_t> lower;
  std::optional<int64_t> upper;
  Method method = Method::kOrderStatistics;
};

// Positions from 1 in the sorted values. lower is 0, and upper is count + 1, if
// there is no such bound.
struct RankInterval {
  int64_t lower;
  int64_t upper;
};

// Requires count >= 0 and the other two in (0, 1).
RankInterval OrderStatisticRanks(int64_t count, double quantile,
                                 double confidence);

// Fewer blocks say too little of their spread, more are too short to be
// independent of each other.
inline constexpr int kMinBlocks = 10;
inline constexpr int kMaxBlocks = 30;

// Puts consecutive outcomes together to at most kMaxBlocks blocks, all of
// equally many; none if there are fewer than kMinBlocks that are not empty.
std::vector<Outcomes> MakeBlocks(absl::Span<const Outcomes> consecutive);

// The interval of a quantile of `all`, and of blocks of the same outcomes if
// MakeBlocks() made any. With blocks, the wider one of both methods on each
// side: few values beyond a quantile tell little of the spread between blocks.
// Bounds are as exact as the histogram.
QuantileInterval IntervalOfQuantile(const Outcomes& all,
                                    absl::Span<const Outcomes> blocks,
                                    double quantile, double confidence);

// Whether so many values tell anything of a quantile: at least one of them is
// expected above it.
bool SupportsQuantile(uint64_t count, double quantile);

}  // namespace distbench

#endif  // DISTBENCH_STATS_QUANTILE_INTERVAL_H_
