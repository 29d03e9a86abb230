#include "distbench/products/history/trends/part_comparison.h"

#include "distbench/stats/welch_interval.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace distbench::history {
namespace {

double VarianceOf(absl::Span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = stats::Mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

}  // namespace

double MedianOf(absl::Span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle]
                                : (sorted[middle - 1] + sorted[middle]) / 2;
}

double StandardDeviationOf(absl::Span<const double> values) {
  return std::sqrt(VarianceOf(values));
}

std::vector<double> DistancesFromMedian(absl::Span<const double> values) {
  const double median = MedianOf(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) {
    distances.push_back(std::abs(value - median));
  }
  return distances;
}

double MeansDiffer(absl::Span<const double> a, absl::Span<const double> b) {
  const double difference = std::abs(stats::Mean(a) - stats::Mean(b));
  // The squared standard errors of the means.
  const double error_a = VarianceOf(a) / static_cast<double>(a.size());
  const double error_b = VarianceOf(b) / static_cast<double>(b.size());
  const double error = error_a + error_b;
  if (!(error > 0)) return difference > 0 ? 0 : 1;
  const double freedom =
      error * error /
      (error_a * error_a / static_cast<double>(a.size() - 1) +
       error_b * error_b / static_cast<double>(b.size() - 1));
  // Variances close to the smallest numbers have squares of 0.
  if (!std::isfinite(freedom)) return difference > 0 ? 0 : 1;
  const boost::math::students_t distribution(freedom);
  return 2 * cdf(complement(distribution, difference / std::sqrt(error)));
}

double SpreadsDiffer(absl::Span<const double> a, absl::Span<const double> b) {
  return MeansDiffer(DistancesFromMedian(a), DistancesFromMedian(b));
}

}  // namespace distbench::history
