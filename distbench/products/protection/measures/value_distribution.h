// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The distribution of a set of numbers, as tables show it.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_VALUE_DISTRIBUTION_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_VALUE_DISTRIBUTION_H_

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::protection {

// Numbers, of which some may be infinite: these rank above all others, as
// failures do among latencies (see outcomes.h). Quantiles count them; mean and
// deviation leave them out, and infinite_count() says how many that is.
class ValueDistribution {
 public:
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();

  ValueDistribution() = default;

  // None of the values may be NaN.
  explicit ValueDistribution(std::vector<double> values);

  size_t count() const { return sorted_.size(); }
  size_t infinite_count() const { return infinite_count_; }

  // Returns the value at position floor(count() * quantile) of the sorted
  // values, as LogHistogram does, which may be kInfinite. Requires count() > 0
  // and 0 <= quantile <= 1.
  double AtQuantile(double quantile) const;

  // Absent without finite values. The deviation is that of a sample (n - 1),
  // and absent if there is only one value.
  std::optional<double> mean() const { return mean_; }
  std::optional<double> deviation() const { return deviation_; }

 private:
  std::vector<double> sorted_;
  size_t infinite_count_ = 0;
  std::optional<double> mean_;
  std::optional<double> deviation_;
};

// A column of a table of distributions.
struct DistributionColumn {
  absl::string_view name;
  double quantile;
};

// The columns before "mean" and "stdev". The first and the last are the
// extremes.
inline constexpr DistributionColumn kDistributionColumns[] = {
    {"min", 0},    {"p01", 0.01}, {"p05", 0.05}, {"p10", 0.1},
    {"p25", 0.25}, {"p50", 0.5},  {"p75", 0.75}, {"p90", 0.9},
    {"p95", 0.95}, {"p99", 0.99}, {"max", 1}};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_VALUE_DISTRIBUTION_H_
