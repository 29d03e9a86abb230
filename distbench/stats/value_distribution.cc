#include "distbench/stats/value_distribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace distbench::stats {

ValueDistribution::ValueDistribution(std::vector<double> values)
    : sorted_(std::move(values)) {
  std::sort(sorted_.begin(), sorted_.end());
  const auto end = std::lower_bound(sorted_.begin(), sorted_.end(), kInfinite);
  infinite_count_ = static_cast<size_t>(sorted_.end() - end);
  const double finite_count = static_cast<double>(end - sorted_.begin());
  if (finite_count == 0) return;
  double sum = 0;
  for (auto value = sorted_.begin(); value != end; ++value) sum += *value;
  const double mean = sum / finite_count;
  mean_ = mean;
  if (finite_count < 2) return;
  double squares = 0;
  for (auto value = sorted_.begin(); value != end; ++value) {
    squares += (*value - mean) * (*value - mean);
  }
  deviation_ = std::sqrt(squares / (finite_count - 1));
}

double ValueDistribution::AtQuantile(double quantile) const {
  const size_t position =
      static_cast<size_t>(static_cast<double>(sorted_.size()) * quantile);
  return sorted_[std::min(position, sorted_.size() - 1)];
}

}  // namespace distbench::stats
