#include "distbench/report/comparison/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench {
namespace {

// Two values in one histogram bucket may be this far apart.
constexpr double kResolution = 1.0 / LogHistogram::kSubBuckets;

// One RPC in the runs of a group; runs without the RPC are left out.
using RpcRuns = std::vector<RpcMeasurements>;

std::map<std::string, RpcRuns> RpcsOf(const std::vector<TestRun>& runs) {
  std::map<std::string, RpcRuns> rpcs;
  for (const TestRun& run : runs) {
    const TestTotals totals = AddUp(*run.result);
    for (const int index : ListRpcs(*run.result)) {
      // Series are not compared.
      rpcs[RpcName(*run.result, index)].push_back(
          MeasurementsOf(*run.result, totals, index, /*max_intervals=*/1));
    }
  }
  return rpcs;
}

using LatencyOf = const LogHistogram& (*)(const RpcMeasurements&);

const LogHistogram& ServiceTime(const RpcMeasurements& rpc) {
  return rpc.totals.service_time_ns;
}

const LogHistogram& ResponseTime(const RpcMeasurements& rpc) {
  return rpc.response_time_ns;
}

bool HaveResponseTimes(const RpcRuns& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const RpcMeasurements& rpc) {
    return rpc.response_time_ns.count() > 0;
  });
}

// The value of a metric in a run; nothing if the run does not have it.
std::optional<double> ValueOf(const Metric& metric, const RpcMeasurements& rpc,
                              LatencyOf latency_of) {
  const RpcCounts& counts = rpc.totals.counts;
  const LogHistogram& latency_ns = latency_of(rpc);
  switch (metric.kind) {
    case Metric::Kind::kPercentile: {
      const double quantile = metric.percent / 100;
      if (!SupportsQuantile(latency_ns.count(), quantile)) return {};
      return static_cast<double>(latency_ns.ValueAtQuantile(quantile));
    }
    case Metric::Kind::kMean:
      if (latency_ns.count() == 0) return {};
      return latency_ns.mean();
    case Metric::Kind::kRate:
      return PerSecond(static_cast<double>(counts.succeeded_count),
                       counts.duration_ns());
    case Metric::Kind::kFailures: {
      const double ended = static_cast<double>(counts.succeeded_count) +
                           static_cast<double>(counts.failed_count);
      if (ended == 0) return {};
      return static_cast<double>(counts.failed_count) / ended;
    }
  }
  return {};
}

// The metric in each run. Returns nothing if a run lacks it, or if no ratio can
// be formed.
std::optional<std::vector<double>> ValuesOf(const Metric& metric,
                                            const RpcRuns& runs,
                                            LatencyOf latency_of) {
  std::vector<double> values;
  for (const RpcMeasurements& rpc : runs) {
    const std::optional<double> value = ValueOf(metric, rpc, latency_of);
    if (!value || (IsComparedByRatio(metric) && *value <= 0)) return {};
    values.push_back(*value);
  }
  return values;
}

ComparisonVerdict Judge(const Metric& metric, const Difference& change) {
  if (!change.interval) return ComparisonVerdict::kNotShown;
  const double no_change = IsComparedByRatio(metric) ? 1 : 0;
  const bool is_shown =
      change.interval->lower > no_change || change.interval->upper < no_change;
  const bool is_resolved = metric.kind != Metric::Kind::kPercentile ||
                           std::abs(change.estimate - 1) > kResolution;
  if (!is_shown || !is_resolved) return ComparisonVerdict::kNoDifference;
  return (change.estimate > no_change) == HigherIsBetter(metric)
             ? ComparisonVerdict::kBetter
             : ComparisonVerdict::kWorse;
}

// The mean of the values that RatioOfMeans() or DifferenceOfMeans() uses.
double Center(const Metric& metric, const std::vector<double>& values) {
  return IsComparedByRatio(metric)
             ? RatioOfMeans({1.0}, values, kCompareConfidence).estimate
             : DifferenceOfMeans({0.0}, values, kCompareConfidence).estimate;
}

MetricComparison CompareMetric(const Metric& metric, const RpcRuns& base,
                               const RpcRuns& next, LatencyOf latency_of) {
  MetricComparison comparison = {metric, ComparisonVerdict::kNotComparable, ""};
  const auto base_values = ValuesOf(metric, base, latency_of);
  const auto next_values = ValuesOf(metric, next, latency_of);
  if (!base_values || !next_values) {
    comparison.reason =
        absl::StrCat("too few RPCs in a run of ", base_values ? "new" : "base");
    return comparison;
  }
  comparison.base = Center(metric, *base_values);
  comparison.next = Center(metric, *next_values);
  comparison.change =
      IsComparedByRatio(metric)
          ? RatioOfMeans(*base_values, *next_values, kCompareConfidence)
          : DifferenceOfMeans(*base_values, *next_values, kCompareConfidence);
  comparison.verdict = Judge(metric, comparison.change);
  return comparison;
}

RpcComparison CompareRpc(const std::string& name, const RpcRuns& base,
                         const RpcRuns& next,
                         const std::vector<Metric>& metrics) {
  const bool by_response = HaveResponseTimes(base) && HaveResponseTimes(next);
  RpcComparison comparison = {
      name, by_response ? "response time" : "service time", {}};
  for (const Metric& metric : metrics) {
    comparison.metrics.push_back(CompareMetric(
        metric, base, next, by_response ? ResponseTime : ServiceTime));
  }
  return comparison;
}

// Adds a note for each RPC that only one group has.
void CompareRpcs(const std::vector<TestRun>& base,
                 const std::vector<TestRun>& next,
                 const std::vector<Metric>& metrics,
                 TestComparison& comparison) {
  const std::map<std::string, RpcRuns> base_rpcs = RpcsOf(base);
  const std::map<std::string, RpcRuns> next_rpcs = RpcsOf(next);
  for (const auto& [name, base_runs] : base_rpcs) {
    const auto found = next_rpcs.find(name);
    if (found == next_rpcs.end()) {
      comparison.notes.push_back(absl::StrCat(name, " is in base only"));
    } else {
      comparison.rpcs.push_back(
          CompareRpc(name, base_runs, found->second, metrics));
    }
  }
  for (const auto& [name, runs] : next_rpcs) {
    if (base_rpcs.count(name) == 0) {
      comparison.notes.push_back(absl::StrCat(name, " is in new only"));
    }
  }
}

// Reports the first invalid run, if any, and the reason.
void FindInvalid(absl::string_view group, const std::vector<TestRun>& runs,
                 TestComparison& comparison) {
  for (size_t i = 0; i < runs.size() && !comparison.is_invalid; ++i) {
    const std::string why = WhyInvalid(runs[i]);
    if (why.empty()) continue;
    comparison.is_invalid = true;
    comparison.not_comparable = absl::StrCat("run ", i + 1, " of ", runs.size(),
                                             " of ", group, " ", why);
  }
}

TestComparison CompareTest(const std::string& name,
                           const std::vector<TestRun>& base,
                           const std::vector<TestRun>& next,
                           const CompareOptions& options) {
  TestComparison comparison;
  comparison.test = name;
  comparison.base_runs = static_cast<int>(base.size());
  comparison.next_runs = static_cast<int>(next.size());
  if (base.empty() || next.empty()) {
    comparison.not_comparable =
        absl::StrCat("it is in ", base.empty() ? "new" : "base", " only");
    return comparison;
  }
  FindInvalid("base", base, comparison);
  FindInvalid("new", next, comparison);
  if (comparison.is_invalid) return comparison;

  const std::string difference = TrafficDifference(base, next);
  if (!difference.empty()) {
    if (!options.allow_different_traffic) {
      comparison.not_comparable =
          absl::StrCat("the traffic differs: ", difference);
      return comparison;
    }
    comparison.notes.push_back(
        absl::StrCat("the traffic differs: ", difference));
  }
  for (std::string& note : ConditionDifferences(base, next)) {
    comparison.notes.push_back(std::move(note));
  }
  CompareRpcs(base, next, options.metrics, comparison);
  return comparison;
}

// Runs by test name, and the names in order of appearance.
struct Groups {
  std::map<std::string, std::vector<TestRun>> runs;
  std::vector<std::string> names;
};

Groups GroupByTest(absl::Span<const TestRun> runs) {
  Groups groups;
  for (const TestRun& run : runs) {
    std::vector<TestRun>& group = groups.runs[run.name];
    if (group.empty()) groups.names.push_back(run.name);
    group.push_back(run);
  }
  return groups;
}

}  // namespace

std::vector<TestComparison> Compare(absl::Span<const TestRun> base,
                                    absl::Span<const TestRun> next,
                                    const CompareOptions& options) {
  Groups base_groups = GroupByTest(base);
  Groups next_groups = GroupByTest(next);
  std::vector<TestComparison> comparisons;
  if (base_groups.names.size() == 1 && next_groups.names.size() == 1) {
    const std::string& base_name = base_groups.names.front();
    const std::string& next_name = next_groups.names.front();
    comparisons.push_back(CompareTest(
        base_name == next_name ? base_name
                               : absl::StrCat(base_name, " and ", next_name),
        base_groups.runs[base_name], next_groups.runs[next_name], options));
    return comparisons;
  }
  for (const std::string& name : base_groups.names) {
    comparisons.push_back(CompareTest(name, base_groups.runs[name],
                                      next_groups.runs[name], options));
  }
  for (const std::string& name : next_groups.names) {
    if (base_groups.runs.count(name) == 0) {
      comparisons.push_back(
          CompareTest(name, {}, next_groups.runs[name], options));
    }
  }
  return comparisons;
}

}  // namespace distbench
