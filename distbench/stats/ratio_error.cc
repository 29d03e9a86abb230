#include "distbench/stats/ratio_error.h"

#include <algorithm>
#include <cmath>

namespace distbench::stats {
namespace {

// Fewer blocks say nothing about their correlation.
constexpr size_t kFewestForCorrelation = 10;

// Keeps the error finite.
constexpr double kMaxCorrelation = 0.95;

}  // namespace

BlockAmount SumOf(absl::Span<const BlockAmount> blocks) {
  BlockAmount sum = {0, 0};
  for (const BlockAmount& block : blocks) {
    sum.amount += block.amount;
    sum.count += block.count;
  }
  return sum;
}

double ErrorOfRatio(absl::Span<const BlockAmount> blocks) {
  const auto [amount, count] = SumOf(blocks);
  const double ratio = amount / count;
  double squares = 0;
  double products = 0;  // of neighbours
  double before = 0;
  for (const BlockAmount& block : blocks) {
    const double residual = block.amount - ratio * block.count;
    squares += residual * residual;
    products += residual * before;
    before = residual;
  }
  const double size = static_cast<double>(blocks.size());
  const double error = std::sqrt(squares * size / (size - 1)) / count;
  if (blocks.size() < kFewestForCorrelation || squares == 0) return error;
  const double measured = products / squares;
  const double correlation =
      std::clamp(measured + (1 + 3 * measured) / size, 0.0, kMaxCorrelation);
  return error * std::sqrt((1 + correlation) / (1 - correlation));
}

}  // namespace distbench::stats
