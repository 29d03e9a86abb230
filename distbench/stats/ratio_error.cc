#include "distbench/stats/ratio_error.h"

#include <cmath>

namespace distbench {

double ErrorOfRatio(absl::Span<const BlockAmount> blocks) {
  double amount = 0;
  double count = 0;
  for (const BlockAmount& block : blocks) {
    amount += block.amount;
    count += block.count;
  }
  const double ratio = amount / count;
  double squares = 0;
  for (const BlockAmount& block : blocks) {
    const double residual = block.amount - ratio * block.count;
    squares += residual * residual;
  }
  const double size = static_cast<double>(blocks.size());
  return std::sqrt(squares * size / (size - 1)) / count;
}

}  // namespace distbench
