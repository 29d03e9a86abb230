#include "distbench/products/history/trends/spread_scan.h"

#include <cmath>
#include <numeric>

namespace distbench::history {

SpreadScan::SpreadScan(absl::Span<const double> distances, size_t min_part)
    : min_part_(min_part),
      order_(distances.begin(), distances.end()),
      sum_(std::accumulate(order_.begin(), order_.end(), 0.0)) {}

Division SpreadScan::Best(absl::Span<const double> order) const {
  const double count = static_cast<double>(order.size());
  const double mean = sum_ / count;
  Division best = {.index = min_part_, .distance = 0};
  if (!(mean > 0)) return best;
  double first_sum = 0;
  for (size_t i = 0; i + min_part_ < order.size(); ++i) {
    first_sum += order[i];
    const double first = static_cast<double>(i + 1);
    if (i + 1 < min_part_) continue;
    // The spread of a part, as a share of that of all. The mean of all counts
    // once in each, so that none is 0.
    const auto share = [&](double sum, double values) {
      return (sum / mean + 1) / (values + 1);
    };
    const double second = count - first;
    const double distance = -first * std::log(share(first_sum, first)) -
                            second * std::log(share(sum_ - first_sum, second));
    if (distance > best.distance) best = {.index = i + 1, .distance = distance};
  }
  return best;
}

}  // namespace distbench::history
