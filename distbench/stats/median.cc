// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/median.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace distbench::stats {

double LowMedian(std::vector<double> values) {
  const auto middle = values.begin() + (values.size() - 1) / 2;
  absl::c_nth_element(values, middle);
  return *middle;
}

double Median(std::vector<double> values) {
  const auto upper = values.begin() + values.size() / 2;
  absl::c_nth_element(values, upper);
  if (values.size() % 2 == 1) return *upper;
  return (*std::max_element(values.begin(), upper) + *upper) / 2;
}

}  // namespace distbench::stats
