#include "distbench/report/comparison/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench {
namespace {

// Two values in one histogram bucket may differ by this ratio.
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

using OutcomesOf = const Outcomes& (*)(const RpcMeasurements&);

const Outcomes& ServiceTime(const RpcMeasurements& rpc) {
  return rpc.service_time;
}

const Outcomes& ResponseTime(const RpcMeasurements& rpc) {
  return rpc.response_time;
}

bool HaveResponseTimes(const RpcRuns& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const RpcMeasurements& rpc) {
    return rpc.response_time.count() > 0;
  });
}

// The reason why a run has no value of a metric.
absl::Status TooFewRpcs() { return absl::NotFoundError("too few RPCs"); }

absl::Status TooManyFailed(const Outcomes& outcomes) {
  return absl::NotFoundError(absl::StrFormat("%.3g%% of the RPCs failed",
                                             100 * outcomes.failed_share()));
}

// Returns the value of a metric in a run. For metrics that are compared by
// ratio, it must be positive.
absl::StatusOr<double> ValueOf(const Metric& metric, const RpcMeasurements& rpc,
                               const Outcomes& outcomes) {
  switch (metric.kind) {
    case Metric::Kind::kPercentile: {
      const double quantile = metric.percent / 100;
      if (!SupportsQuantile(outcomes.count(), quantile)) return TooFewRpcs();
      const int64_t value_ns = outcomes.ValueAtQuantile(quantile);
      if (value_ns == Outcomes::kFailed) return TooManyFailed(outcomes);
      if (value_ns <= 0) return TooFewRpcs();
      return static_cast<double>(value_ns);
    }
    case Metric::Kind::kMean:
      if (outcomes.failed_share() > kAllowedFailures) {
        return TooManyFailed(outcomes);
      }
      if (outcomes.latency_ns.mean() <= 0) return TooFewRpcs();
      return outcomes.latency_ns.mean();
    case Metric::Kind::kRate: {
      const RpcCounts& counts = rpc.totals.counts;
      const double rate = PerSecond(static_cast<double>(counts.succeeded_count),
                                    counts.duration_ns());
      if (rate <= 0) return TooFewRpcs();
      return rate;
    }
    case Metric::Kind::kFailures:
      if (outcomes.count() == 0) return TooFewRpcs();
      return outcomes.failed_share();
  }
  return TooFewRpcs();
}

// Returns the value of the metric in each run. The error says which run has
// none, and why.
absl::StatusOr<std::vector<double>> ValuesOf(absl::string_view group,
                                             const Metric& metric,
                                             const RpcRuns& runs,
                                             OutcomesOf outcomes_of) {
  std::vector<double> values;
  for (const RpcMeasurements& rpc : runs) {
    const absl::StatusOr<double> value = ValueOf(metric, rpc, outcomes_of(rpc));
    if (!value.ok()) {
      return absl::NotFoundError(
          absl::StrCat(value.status().message(), " in run ", values.size() + 1,
                       " of ", runs.size(), " of ", group));
    }
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
                               const RpcRuns& next, OutcomesOf outcomes_of) {
  MetricComparison comparison = {metric, ComparisonVerdict::kNotComparable, ""};
  auto base_values = ValuesOf("base", metric, base, outcomes_of);
  auto next_values = ValuesOf("new", metric, next, outcomes_of);
  if (!base_values.ok() || !next_values.ok()) {
    comparison.reason = std::string(
        (base_values.ok() ? next_values : base_values).status().message());
    return comparison;
  }
  comparison.base = Center(metric, *base_values);
  comparison.next = Center(metric, *next_values);
  comparison.base_values = *std::move(base_values);
  comparison.next_values = *std::move(next_values);
  comparison.change = ChangeOf(comparison, kCompareConfidence);
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

// The runs of each test, and the test names in order of appearance.
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

Difference ChangeOf(const MetricComparison& comparison, double confidence) {
  return IsComparedByRatio(comparison.metric)
             ? RatioOfMeans(comparison.base_values, comparison.next_values,
                            confidence)
             : DifferenceOfMeans(comparison.base_values, comparison.next_values,
                                 confidence);
}

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
