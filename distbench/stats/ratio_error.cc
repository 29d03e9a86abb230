// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/ratio_error.h"

#include <algorithm>
#include <cmath>

#include "distbench/stats/distributions.h"

namespace distbench::stats {
namespace {

// Keeps the error finite.
constexpr double kMaxCorrelation = 0.95;

// However few independent blocks those that depend on each other are worth.
// With fewer, intervals would be many times as wide, and hold hardly more
// often.
constexpr double kFewestDegreesOfFreedom = 3;

struct Residuals {
  double squares = 0;
  double products = 0;  // of neighbours
};

Residuals ResidualsOf(absl::Span<const BlockAmount> blocks, double ratio) {
  Residuals residuals;
  double before = 0;
  for (const BlockAmount& block : blocks) {
    const double residual = block.amount - ratio * block.count;
    residuals.squares += residual * residual;
    residuals.products += residual * before;
    before = residual;
  }
  return residuals;
}

// The correlation of neighbouring blocks; 0 if there are too few to tell.
double CorrelationOf(const Residuals& residuals, size_t blocks) {
  if (blocks < kFewestForCorrelation || residuals.squares == 0) return 0;
  const auto size = static_cast<double>(blocks);
  const double measured = residuals.products / residuals.squares;
  return std::clamp(measured + (1 + 3 * measured) / size, 0.0, kMaxCorrelation);
}

}  // namespace

BlockAmount SumOf(absl::Span<const BlockAmount> blocks) {
  BlockAmount sum = {0, 0};
  for (const BlockAmount& block : blocks) {
    sum.amount += block.amount;
    sum.count += block.count;
  }
  return sum;
}

double HalfWidthOfRatio(absl::Span<const BlockAmount> blocks,
                        double confidence) {
  const auto [amount, count] = SumOf(blocks);
  const Residuals residuals = ResidualsOf(blocks, amount / count);
  const double correlation = CorrelationOf(residuals, blocks.size());
  const double independent_share = (1 - correlation) / (1 + correlation);
  const double size = static_cast<double>(blocks.size());
  const double error =
      std::sqrt(residuals.squares * size / (size - 1) / independent_share) /
      count;
  const double degrees_of_freedom =
      std::max(std::min(kFewestDegreesOfFreedom, size - 1),
               size * independent_share - 1);
  return error * StudentTQuantile((1 + confidence) / 2, degrees_of_freedom);
}

}  // namespace distbench::stats
