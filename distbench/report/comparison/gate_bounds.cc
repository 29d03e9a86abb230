#include "distbench/report/comparison/gate_bounds.h"

#include <algorithm>
#include <cmath>

#include "distbench/stats/distributions.h"

namespace distbench {
namespace {

// The variance of a share of failures if RPCs fail independently.
double BinomialVariance(double share, double count) {
  return share * (1 - share) / count;
}

void WidenPercentile(Difference& change) {
  Interval& bounds = *change.interval;
  bounds.lower =
      std::min(bounds.lower, change.estimate / (1 + kLatencyResolution));
  bounds.upper =
      std::max(bounds.upper, change.estimate * (1 + kLatencyResolution));
}

void WidenFailures(const MetricComparison& comparison, double error,
                   Difference& change) {
  const double base_count = static_cast<double>(comparison.base_count);
  const double next_count = static_cast<double>(comparison.next_count);
  const double half_width =
      NormalQuantile(1 - error) *
      std::sqrt(BinomialVariance(comparison.base, base_count) +
                BinomialVariance(comparison.next, next_count));
  Interval& bounds = *change.interval;
  bounds.lower = std::min(bounds.lower, change.estimate - half_width);
  bounds.upper = std::max(bounds.upper, change.estimate + half_width);
  if (comparison.base == 0) bounds.lower += std::log(error) / base_count;
  if (comparison.next == 0) bounds.upper -= std::log(error) / next_count;
}

}  // namespace

Difference BoundsOf(const MetricComparison& comparison, double error) {
  // A two-sided interval excludes `error` on each side.
  Difference change = ChangeOf(comparison, 1 - 2 * error);
  if (!change.interval) return change;
  switch (comparison.metric.kind) {
    case Metric::Kind::kPercentile:
      WidenPercentile(change);
      break;
    case Metric::Kind::kFailures:
    case Metric::Kind::kWasted:  // attempts are at least as many as RPCs
      WidenFailures(comparison, error, change);
      break;
    case Metric::Kind::kMean:
    case Metric::Kind::kRate:
    case Metric::Kind::kGoodput:
    case Metric::Kind::kAmplification:
      break;
  }
  return change;
}

}  // namespace distbench
