#include "distbench/report/comparison/gate_bounds.h"

#include <algorithm>
#include <cmath>

#include "distbench/stats/distributions.h"

namespace distbench::report {
namespace {

// The variance of a share of failures if RPCs fail independently.
double BinomialVariance(double share, double count) {
  return share * (1 - share) / count;
}

void WidenPercentile(stats::Difference& change) {
  stats::Interval& bounds = *change.interval;
  bounds.lower =
      std::min(bounds.lower, change.estimate / (1 + kLatencyResolution));
  bounds.upper =
      std::max(bounds.upper, change.estimate * (1 + kLatencyResolution));
}

void WidenFailures(const MetricComparison& comparison, double error,
                   stats::Difference& change) {
  const double base_count = static_cast<double>(comparison.base_count);
  const double next_count = static_cast<double>(comparison.next_count);
  const double half_width =
      stats::NormalQuantile(1 - error) *
      std::sqrt(BinomialVariance(comparison.base, base_count) +
                BinomialVariance(comparison.next, next_count));
  stats::Interval& bounds = *change.interval;
  bounds.lower = std::min(bounds.lower, change.estimate - half_width);
  bounds.upper = std::max(bounds.upper, change.estimate + half_width);
  if (comparison.base == 0) bounds.lower += std::log(error) / base_count;
  if (comparison.next == 0) bounds.upper -= std::log(error) / next_count;
}

}  // namespace

stats::Difference BoundsOf(const MetricComparison& comparison, double error) {
  // A two-sided interval excludes `error` on each side.
  stats::Difference change = ChangeOf(comparison, 1 - 2 * error);
  if (!change.interval) return change;
  switch (comparison.metric.kind) {
    case stats::Metric::Kind::kPercentile:
      WidenPercentile(change);
      break;
    case stats::Metric::Kind::kFailures:
    case stats::Metric::Kind::kWasted:  // attempts are at least as many as RPCs
      WidenFailures(comparison, error, change);
      break;
    case stats::Metric::Kind::kMean:
    case stats::Metric::Kind::kRate:
    case stats::Metric::Kind::kGoodput:
    case stats::Metric::Kind::kAmplification:
      break;
  }
  return change;
}

}  // namespace distbench::report
