// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/quantile_interval.h"

#include <algorithm>
#include <cmath>

#include "distbench/stats/distributions.h"
#include "distbench/stats/ratio_error.h"

namespace distbench::stats {
namespace {

int64_t ValueAtRank(const Outcomes& outcomes, int64_t rank) {
  const double count = static_cast<double>(outcomes.count());
  // The middle of the position, so that rounding does not find its neighbour.
  return outcomes.ValueAtQuantile(
      std::min(1.0, (static_cast<double>(rank) - 0.5) / count));
}

// Returns half the width of the confidence interval of the share of requests
// that succeeded within `value`. For kFailed, these are all that succeeded: the
// spread of the failures then decides.
double BlockHalfWidth(absl::Span<const Outcomes> blocks, int64_t value,
                      double confidence) {
  std::vector<BlockAmount> within;
  for (const Outcomes& block : blocks) {
    within.push_back(
        {.amount = static_cast<double>(block.latency_ns.CountAtMost(value)),
         .count = static_cast<double>(block.count())});
  }
  return HalfWidthOfRatio(within, confidence);
}

RankInterval BlockRanks(const Outcomes& all, absl::Span<const Outcomes> blocks,
                        double quantile, double confidence) {
  const double count = static_cast<double>(all.count());
  const double half_width =
      BlockHalfWidth(blocks, all.ValueAtQuantile(quantile), confidence);
  return {static_cast<int64_t>(
              std::floor(std::max(0.0, quantile - half_width) * count)),
          static_cast<int64_t>(
              std::ceil(std::min(1.0, quantile + half_width) * count)) +
              1};
}

}  // namespace

RankInterval OrderStatisticRanks(int64_t count, double quantile,
                                 double confidence) {
  const double alpha = 1 - confidence;
  return {BinomialQuantile(count, quantile, alpha / 2),
          BinomialQuantile(count, quantile, 1 - alpha / 2) + 1};
}

std::vector<Outcomes> MakeBlocks(absl::Span<const OutcomesView> consecutive) {
  std::vector<OutcomesView> filled;
  for (const OutcomesView& part : consecutive) {
    if (part.count() > 0) filled.push_back(part);
  }
  std::vector<Outcomes> blocks;
  if (filled.size() < kMinBlocks) return blocks;
  blocks.resize(std::min<size_t>(filled.size(), kMaxBlocks));
  for (size_t i = 0; i < filled.size(); ++i) {
    blocks[i * blocks.size() / filled.size()].Merge(filled[i]);
  }
  return blocks;
}

QuantileInterval IntervalOfQuantile(const Outcomes& all,
                                    absl::Span<const Outcomes> blocks,
                                    double quantile, double confidence) {
  QuantileInterval interval;
  const int64_t count = static_cast<int64_t>(all.count());
  if (count == 0) return interval;
  RankInterval ranks = OrderStatisticRanks(count, quantile, confidence);
  if (!blocks.empty()) {
    const RankInterval by_blocks =
        BlockRanks(all, blocks, quantile, confidence);
    ranks.lower = std::min(ranks.lower, by_blocks.lower);
    ranks.upper = std::max(ranks.upper, by_blocks.upper);
    interval.method = QuantileInterval::Method::kBlocks;
  }
  if (ranks.lower >= 1) interval.lower = ValueAtRank(all, ranks.lower);
  if (ranks.upper <= count) interval.upper = ValueAtRank(all, ranks.upper);
  return interval;
}

bool SupportsQuantile(uint64_t count, double quantile) {
  // Slightly less than 1, because 1 - 0.99999 is not exactly 0.00001.
  return static_cast<double>(count) * (1 - quantile) >= 1 - 1e-6;
}

}  // namespace distbench::stats
