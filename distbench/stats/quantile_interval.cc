#include "distbench/stats/quantile_interval.h"

#include <algorithm>
#include <cmath>

#include "distbench/stats/distributions.h"

namespace distbench {
namespace {

int64_t ValueAtRank(const LogHistogram& histogram, int64_t rank) {
  const double count = static_cast<double>(histogram.count());
  // The middle of the position, lest rounding finds its neighbour.
  return histogram.ValueAtQuantile(
      std::min(1.0, (static_cast<double>(rank) - 0.5) / count));
}

// Half the width of the interval of the share of values below `value`. The
// blocks' sizes differ, so this is the interval of a ratio.
double BlockHalfWidth(absl::Span<const LogHistogram> blocks, int64_t value,
                      double confidence) {
  double below = 0;
  double total = 0;
  for (const LogHistogram& block : blocks) {
    below += static_cast<double>(block.CountAtMost(value));
    total += static_cast<double>(block.count());
  }
  const double share = below / total;
  double squares = 0;
  for (const LogHistogram& block : blocks) {
    const double residual = static_cast<double>(block.CountAtMost(value)) -
                            share * static_cast<double>(block.count());
    squares += residual * residual;
  }
  const double count = static_cast<double>(blocks.size());
  const double deviation = std::sqrt(squares * count / (count - 1)) / total;
  return StudentTQuantile((1 + confidence) / 2, count - 1) * deviation;
}

RankInterval BlockRanks(const LogHistogram& all,
                        absl::Span<const LogHistogram> blocks, double quantile,
                        double confidence) {
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

std::vector<LogHistogram> MakeBlocks(
    absl::Span<const LogHistogram* const> consecutive) {
  std::vector<const LogHistogram*> filled;
  std::copy_if(consecutive.begin(), consecutive.end(),
               std::back_inserter(filled),
               [](const LogHistogram* part) { return part->count() > 0; });
  std::vector<LogHistogram> blocks;
  if (filled.size() < kMinBlocks) return blocks;
  blocks.resize(std::min<size_t>(filled.size(), kMaxBlocks));
  for (size_t i = 0; i < filled.size(); ++i) {
    blocks[i * blocks.size() / filled.size()].Merge(*filled[i]);
  }
  return blocks;
}

QuantileInterval IntervalOfQuantile(const LogHistogram& all,
                                    absl::Span<const LogHistogram> blocks,
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
  // A little less than 1: 1 - 0.99999 is not exactly 0.00001.
  return static_cast<double>(count) * (1 - quantile) >= 1 - 1e-6;
}

}  // namespace distbench
