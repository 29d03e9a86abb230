// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/noise_floor.h"

#include <cmath>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/distributions.h"
#include "distbench/stats/run_interval.h"

namespace distbench::report {
namespace {

constexpr double kNoiseConfidence = 0.95;

// Above it, a change is told as a factor: nothing falls by more than 100 %, and
// a rise by half and a fall by a third are equally likely.
constexpr double kLargestPercentage = 0.5;

// The values, or their logarithms, whose differences are compared; none if a
// value has no logarithm.
std::vector<double> ScaledValues(const stats::Metric& metric,
                                 absl::Span<const double> values) {
  std::vector<double> scaled(values.begin(), values.end());
  if (!stats::IsComparedByRatio(metric)) return scaled;
  for (double& value : scaled) {
    if (!(value > 0)) return {};
    value = std::log(value);
  }
  return scaled;
}

}  // namespace

std::string WhyNoNoiseFloor(absl::Span<const TestRun> runs) {
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::string reason = WhyNotMeasured(*runs[i].result);
    if (!reason.empty()) return absl::StrCat("run ", i + 1, " ", reason);
  }
  if (runs.size() < kMinNoiseRuns) {
    return absl::StrCat("there are ", runs.size(), " of at least ",
                        kMinNoiseRuns,
                        " runs of the test; use run_tests --repeat=10");
  }
  if (MixesOrigins(runs)) return "some of its runs are real, others simulated";
  if (std::string copies = WhyCopies(runs); !copies.empty()) {
    return absl::StrCat("it ", copies);
  }
  const std::string difference = TrafficDifference(runs, {});
  return difference.empty()
             ? ""
             : absl::StrCat("its runs do not send the same: ", difference);
}

std::optional<double> NoiseFloor(const stats::Metric& metric,
                                 absl::Span<const double> values, int base_runs,
                                 int next_runs) {
  const std::vector<double> scaled = ScaledValues(metric, values);
  if (scaled.size() < kMinNoiseRuns) return std::nullopt;
  const double half_width =
      stats::StudentTQuantile((1 + kNoiseConfidence) / 2, scaled.size() - 1.0) *
      std::sqrt(stats::Variance(scaled) * (1.0 / base_runs + 1.0 / next_runs));
  return stats::IsComparedByRatio(metric) ? std::expm1(half_width) : half_width;
}

std::vector<TestRun> FindNoiseRuns(absl::Span<const TestRun> base,
                                   absl::Span<const TestRun> noise_runs,
                                   std::vector<std::string>& notes) {
  if (noise_runs.empty()) return {};
  std::vector<TestRun> found;
  std::set<std::string> names;
  for (const TestRun& run : noise_runs) {
    names.insert(run.name);
    if (run.name == base.front().name) found.push_back(run);
  }
  if (names.size() == 1) found.assign(noise_runs.begin(), noise_runs.end());
  std::string problem = WhyNoNoiseFloor(found);
  if (problem.empty() && OriginOf(found) != OriginOf(base)) {
    problem = absl::StrCat("its runs are ", OriginOf(found),
                           ", those of base are ", OriginOf(base));
  }
  if (problem.empty()) problem = TrafficDifference(base, found);
  if (!problem.empty()) {
    notes.push_back(absl::StrCat("the noise floor is unknown: ", problem));
    return {};
  }
  for (const std::string& difference :
       DescribeDifferences(base, "noise floor", found)) {
    notes.push_back(difference);
  }
  return found;
}

std::string NoiseText(const stats::Metric& metric, double noise_floor) {
  if (!stats::IsComparedByRatio(metric)) {
    return absl::StrFormat("±%.3f pp", 100 * noise_floor);
  }
  return noise_floor < kLargestPercentage
             ? absl::StrFormat("±%.1f %%", 100 * noise_floor)
             : absl::StrFormat("x%.2f", 1 + noise_floor);
}

}  // namespace distbench::report
