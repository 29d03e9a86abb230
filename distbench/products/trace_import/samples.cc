#include "distbench/products/trace_import/samples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace distbench::trace_import {

double Mean(const std::vector<int64_t>& values) {
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double Quantile(const std::vector<int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<size_t>(
      std::ceil(share * static_cast<double>(sorted.size())));
  return static_cast<double>(sorted[std::max<size_t>(1, rank) - 1]);
}

// The area between the quantile functions is that between the cumulative
// probabilities, which is summed here from each value to the next.
double RelativeDistance(const std::vector<int64_t>& sorted,
                        const std::vector<int64_t>& other) {
  const double mean = Mean(sorted);
  if (mean == 0) return other.back() == 0 ? 0 : 1;
  double area = 0;
  size_t i = 0;
  size_t j = 0;
  int64_t last = std::min(sorted[0], other[0]);
  while (i < sorted.size() || j < other.size()) {
    const bool is_of_first =
        j == other.size() || (i < sorted.size() && sorted[i] <= other[j]);
    const int64_t value = is_of_first ? sorted[i] : other[j];
    const double below =
        static_cast<double>(i) / static_cast<double>(sorted.size());
    const double below_other =
        static_cast<double>(j) / static_cast<double>(other.size());
    area += std::abs(below - below_other) * static_cast<double>(value - last);
    last = value;
    ++(is_of_first ? i : j);
  }
  return area / mean;
}

}  // namespace distbench::trace_import
