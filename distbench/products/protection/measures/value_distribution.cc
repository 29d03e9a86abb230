// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/value_distribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/types/span.h"
#include "distbench/stats/run_interval.h"

namespace distbench::protection {

ValueDistribution::ValueDistribution(std::vector<double> values)
    : sorted_(std::move(values)) {
  std::sort(sorted_.begin(), sorted_.end());
  const auto end = std::lower_bound(sorted_.begin(), sorted_.end(), kInfinite);
  infinite_count_ = static_cast<size_t>(sorted_.end() - end);
  const auto finite = absl::MakeConstSpan(sorted_).first(
      static_cast<size_t>(end - sorted_.begin()));
  if (!finite.empty()) mean_ = stats::Mean(finite);
  if (finite.size() > 1) deviation_ = std::sqrt(stats::Variance(finite));
}

double ValueDistribution::AtQuantile(double quantile) const {
  const size_t position =
      static_cast<size_t>(static_cast<double>(sorted_.size()) * quantile);
  return sorted_[std::min(position, sorted_.size() - 1)];
}

}  // namespace distbench::protection
