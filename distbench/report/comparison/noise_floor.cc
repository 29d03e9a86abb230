#include "distbench/report/comparison/noise_floor.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/comparison/metric_values.h"
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

// The sizes of groups that the table shows.
constexpr int kGroupSizes[] = {1, 5, 10};

// Why the runs of a test have no noise floor; empty if they have one.
std::string WhyUnusable(absl::Span<const TestRun> runs) {
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
  if (ShareSeeds(runs)) {
    return "it has simulated runs with the same seed, which are copies; "
           "simulate each with its own (--seed)";
  }
  const std::string difference = TrafficDifference(runs, {});
  return difference.empty()
             ? ""
             : absl::StrCat("its runs do not send the same: ", difference);
}

// The values, or their logarithms, whose differences are compared.
std::vector<double> ScaledValues(const stats::Metric& metric,
                                 absl::Span<const double> values) {
  std::vector<double> scaled(values.begin(), values.end());
  if (stats::IsComparedByRatio(metric)) {
    for (double& value : scaled) value = std::log(value);
  }
  return scaled;
}

void AppendMetric(const stats::Metric& metric, const RpcRuns& runs,
                  LatencyKind latency, int name_width, std::string& text) {
  absl::StrAppendFormat(&text, "    %-*s", name_width,
                        stats::MetricName(metric));
  const absl::StatusOr<std::vector<double>> values =
      ValuesOf("the test", metric, runs, latency);
  if (!values.ok()) {
    absl::StrAppend(&text, "  not known: ", values.status().message(), "\n");
    return;
  }
  for (const int size : kGroupSizes) {
    const auto noise = NoiseFloor(metric, *values, size, size);
    const std::string cell = noise ? NoiseText(metric, *noise) : "?";
    // The sign has two bytes, and one column.
    const int width = absl::StartsWith(cell, "±") ? 13 : 12;
    absl::StrAppendFormat(&text, " %*s", width, cell);
  }
  text += '\n';
}

void AppendRpc(const std::string& name, const RpcRuns& runs,
               std::string& text) {
  const LatencyKind latency = LatencyOf({&runs});
  absl::StrAppend(&text, "  ", name, ", ", LatencyName(latency), ":\n");
  const std::vector<stats::Metric> metrics =
      MetricsOf(stats::DefaultMetrics(), {&runs});
  size_t name_width = 8;
  for (const stats::Metric& metric : metrics) {
    name_width = std::max(name_width, stats::MetricName(metric).size());
  }
  absl::StrAppendFormat(&text, "    %-*s", static_cast<int>(name_width), "");
  for (const int size : kGroupSizes) {
    absl::StrAppendFormat(&text, " %12s",
                          absl::StrCat(size, size == 1 ? " run" : " runs"));
  }
  text += '\n';
  for (const stats::Metric& metric : metrics) {
    AppendMetric(metric, runs, latency, static_cast<int>(name_width), text);
  }
}

}  // namespace

std::optional<double> NoiseFloor(const stats::Metric& metric,
                                 absl::Span<const double> values, int base_runs,
                                 int next_runs) {
  if (values.size() < kMinNoiseRuns) return std::nullopt;
  const std::vector<double> scaled = ScaledValues(metric, values);
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
  std::string problem = WhyUnusable(found);
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

absl::StatusOr<std::string> DescribeNoise(absl::Span<const TestRun> runs) {
  const std::string& name = runs.front().name;
  const std::string problem = WhyUnusable(runs);
  if (!problem.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " has no noise floor: ", problem));
  }
  std::string text =
      absl::StrCat("Test: ", MarkedName(name, *runs.front().result), " (",
                   runs.size(), " runs)\n");
  for (const auto& [rpc, rpc_runs] : RpcsOf(runs)) {
    AppendRpc(rpc, rpc_runs, text);
  }
  return text;
}

std::string NoiseText(const stats::Metric& metric, double noise_floor) {
  if (!stats::IsComparedByRatio(metric)) {
    return absl::StrFormat("±%.3fpp", 100 * noise_floor);
  }
  return noise_floor < kLargestPercentage
             ? absl::StrFormat("±%.1f%%", 100 * noise_floor)
             : absl::StrFormat("x%.2f", 1 + noise_floor);
}

}  // namespace distbench::report
