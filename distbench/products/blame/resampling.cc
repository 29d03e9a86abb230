#include "distbench/products/blame/resampling.h"

#include <algorithm>
#include <random>

namespace distbench::blame {
namespace {

constexpr int kDraws = 500;
constexpr double kTailShare = 0.025;

}  // namespace

void VisitDraws(size_t item_count, uint64_t seed,
                absl::FunctionRef<void(const Multiplicities&)> visit) {
  visit(Multiplicities(item_count, 1));
  std::mt19937_64 random(seed);
  Multiplicities drawn;
  for (int draw = 0; draw < kDraws; ++draw) {
    drawn.assign(item_count, 0);
    for (size_t i = 0; i < item_count; ++i) ++drawn[random() % item_count];
    visit(drawn);
  }
}

BlameEstimate DrawnEstimate(std::vector<double> values) {
  const double value = values.front();
  std::sort(values.begin() + 1, values.end());
  const double draws = static_cast<double>(values.size() - 1);
  const auto at = [&](double quantile) {
    return values[1 + static_cast<size_t>(quantile * (draws - 1))];
  };
  return {value, at(kTailShare), at(1 - kTailShare)};
}

}  // namespace distbench::blame
