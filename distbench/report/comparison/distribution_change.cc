#include "distbench/report/comparison/distribution_change.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace distbench::report {
namespace {

// Equal distances may differ by rounding.
constexpr double kRounding = 1e-9;

// The group of each run: 1 for the first, 0 for the second.
using Division = std::vector<char>;

// The number of ways to choose a group, at most kMaxDivisions + 1.
double CountDivisions(size_t first_size, size_t second_size) {
  double count = 1;
  for (size_t i = 1; i <= first_size && count <= kMaxDivisions; ++i) {
    count =
        count * static_cast<double>(second_size + i) / static_cast<double>(i);
  }
  return std::min(std::round(count), kMaxDivisions + 1.0);
}

double EnergyDistance(const DistanceMatrix& distances, const Division& division,
                      double first_size) {
  double sums[3] = {};  // by the number of runs that are in the first group
  for (size_t i = 0; i < division.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      sums[division[i] + division[j]] += distances[i][j];
    }
  }
  const double second_size = static_cast<double>(division.size()) - first_size;
  return 2 * (sums[1] / first_size / second_size -
              sums[2] / first_size / first_size -
              sums[0] / second_size / second_size);
}

}  // namespace

double SmallestPValue(size_t first_group_size, size_t second_group_size) {
  const double divisions = CountDivisions(first_group_size, second_group_size);
  if (divisions > kMaxDivisions) return 1.0 / (kRandomDivisions + 1);
  // Groups of one size are as far apart after they have swapped all runs.
  return (first_group_size == second_group_size ? 2 : 1) / divisions;
}

double PermutationPValue(const DistanceMatrix& distances,
                         size_t first_group_size) {
  Division division(distances.size(), 0);
  std::fill_n(division.begin(), first_group_size, 1);
  const double first_size = static_cast<double>(first_group_size);
  const double observed = EnergyDistance(distances, division, first_size);
  const double threshold = observed - kRounding * std::abs(observed);
  const double divisions =
      CountDivisions(first_group_size, distances.size() - first_group_size);
  int as_far = 0;
  if (divisions <= kMaxDivisions) {
    // From the highest order to the lowest: the observed division comes first.
    do {
      as_far += EnergyDistance(distances, division, first_size) >= threshold;
    } while (std::prev_permutation(division.begin(), division.end()));
    return as_far / divisions;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < kRandomDivisions; ++i) {
    std::shuffle(division.begin(), division.end(), random);
    as_far += EnergyDistance(distances, division, first_size) >= threshold;
  }
  return (as_far + 1.0) / (kRandomDivisions + 1.0);
}

namespace {

// Logarithms of quantiles at equal distances, ascending.
constexpr int kQuantiles = 400;
using Curve = std::vector<double>;

Curve CurveOf(const stats::Outcomes& outcomes, double log_of_failures) {
  const double step = static_cast<double>(outcomes.count()) / kQuantiles;
  Curve curve;
  uint64_t count = 0;
  for (const stats::LogHistogram::Bucket& bucket :
       outcomes.latency_ns.Buckets()) {
    count += bucket.count;
    const double middle =
        (static_cast<double>(bucket.lower) + bucket.upper) / 2;
    while (curve.size() < kQuantiles &&
           (curve.size() + 0.5) * step < static_cast<double>(count)) {
      curve.push_back(std::log(std::max(middle, 1.0)));
    }
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

DistanceMatrix DistancesBetween(const std::vector<Curve>& curves) {
  DistanceMatrix distances(curves.size());
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
  if (SmallestPValue(base_count, runs.size() - base_count) >
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
  return {.p_value = PermutationPValue(DistancesBetween(curves), base_count),
          .distance = std::expm1(DistanceBetween(
              MeanOf(all.first(base_count)), MeanOf(all.subspan(base_count))))};
}

}  // namespace distbench::report
