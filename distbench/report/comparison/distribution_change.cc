// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/distribution_change.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/permutation.h"

namespace distbench::report {
namespace {

// Logarithms of quantiles at equal distances, ascending.
constexpr int kQuantiles = 400;
using Curve = std::vector<double>;

Curve CurveOf(const stats::Outcomes& outcomes, double log_of_failures) {
  const double step = static_cast<double>(outcomes.count()) / kQuantiles;
  Curve curve;
  uint64_t count = 0;
  const auto add = [&](uint64_t more, double latency_ns) {
    count += more;
    while (curve.size() < kQuantiles &&
           (curve.size() + 0.5) * step < static_cast<double>(count)) {
      curve.push_back(std::log(std::max(latency_ns, 1.0)));
    }
  };
  const stats::LogHistogram& latencies_ns = outcomes.latency_ns;
  for (const stats::LogHistogram::Bucket& bucket : latencies_ns.Buckets()) {
    add(bucket.count, (static_cast<double>(bucket.lower) + bucket.upper) / 2);
  }
  // Those beyond the buckets count as the highest, as in every quantile.
  if (latencies_ns.overflow_count() > 0) {
    add(latencies_ns.overflow_count(), static_cast<double>(latencies_ns.max()));
  }
  curve.resize(kQuantiles, log_of_failures);
  return curve;
}

double DistanceBetween(const Curve& a, const Curve& b) {
  double sum = 0;
  for (int i = 0; i < kQuantiles; ++i) sum += std::abs(a[i] - b[i]);
  return sum / kQuantiles;
}

Curve MeanOf(absl::Span<const Curve> curves) {
  Curve mean(kQuantiles, 0);
  for (const Curve& curve : curves) {
    for (int i = 0; i < kQuantiles; ++i) mean[i] += curve[i] / curves.size();
  }
  return mean;
}

stats::DistanceMatrix DistancesBetween(const std::vector<Curve>& curves) {
  stats::DistanceMatrix distances(curves.size());
  for (size_t i = 0; i < curves.size(); ++i) {
    for (const Curve& other : curves) {
      distances[i].push_back(DistanceBetween(curves[i], other));
    }
  }
  return distances;
}

std::vector<const stats::Outcomes*> FirstRuns(const RpcRuns& runs,
                                              LatencyKind latency) {
  std::vector<const stats::Outcomes*> first;
  for (const RpcMeasurements& rpc : runs) {
    if (first.size() == kMaxDistributionRuns) break;
    first.push_back(&rpc.latency(latency));
  }
  return first;
}

}  // namespace

DistributionChange CompareDistributions(const RpcRuns& base,
                                        const RpcRuns& next,
                                        LatencyKind latency) {
  std::vector<const stats::Outcomes*> runs = FirstRuns(base, latency);
  const size_t base_count = runs.size();
  for (const stats::Outcomes* run : FirstRuns(next, latency))
    runs.push_back(run);
  if (stats::SmallestPValue(base_count, runs.size() - base_count) >
      kDistributionError) {
    return {.reason =
                "so few runs cannot show a difference; run both with "
                "--repeat=4 or more"};
  }
  int64_t highest_ns = 1;
  for (const stats::Outcomes* run : runs) {
    if (run->count() == 0) return {.reason = "a run has no RPCs"};
    if (run->latency_ns.count() > 0) {
      highest_ns = std::max(highest_ns, run->latency_ns.max());
    }
  }
  const double log_of_failures = std::log(2.0 * highest_ns);
  std::vector<Curve> curves;
  for (const stats::Outcomes* run : runs) {
    curves.push_back(CurveOf(*run, log_of_failures));
  }
  const absl::Span<const Curve> all = curves;
  return {
      .p_value = stats::PermutationPValue(DistancesBetween(curves), base_count),
      .distance = std::expm1(DistanceBetween(MeanOf(all.first(base_count)),
                                             MeanOf(all.subspan(base_count))))};
}

}  // namespace distbench::report
