#include "distbench/report/export/openmetrics.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/metrics/openmetrics.h"
#include "distbench/metrics/rpc_traffic.h"
#include "distbench/report/measurements/planned_faults.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/check_objectives.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr const char* kRunVerdicts[] = {"ok", "warn", "invalid", "failed"};
constexpr const char* kObjectiveVerdicts[] = {"pass", "fail", "undecided"};

metrics::Labels With(metrics::Labels labels, const std::string& name,
                     const std::string& value) {
  labels.emplace_back(name, value);
  return labels;
}

metrics::RpcTraffic TrafficOf(const RpcMeasurements& rpc) {
  metrics::RpcTraffic traffic;
  traffic.counts.succeeded = rpc.totals.counts.succeeded_count;
  traffic.counts.failed = rpc.totals.counts.failed_count;
  traffic.counts.warmup = rpc.totals.counts.warmup_count;
  traffic.counts.request_bytes = rpc.totals.counts.request_bytes;
  traffic.counts.response_bytes = rpc.totals.counts.response_bytes;
  if (rpc.offered) traffic.counts.offered = rpc.offered->offered_count();
  traffic.service_time.Add(rpc.service_time.latency_ns);
  traffic.response_time.Add(rpc.response_time.latency_ns);
  return traffic;
}

// What callers' policies did, by RPC, and what servers did on purpose, by
// fault.
class PolicyAndFaultFamilies {
 public:
  void AddPolicy(const PolicyStatistics& attempts,
                 const metrics::Labels& labels) {
    Count(With(labels, "outcome", "succeeded"),
          attempts.succeeded_attempt_count(), attempts_);
    Count(With(labels, "outcome", "failed"), attempts.failed_attempt_count(),
          attempts_);
    Count(With(labels, "outcome", "abandoned"),
          attempts.abandoned_attempt_count(), attempts_);
    Count(With(labels, "kind", "retry"), attempts.retry_count(), further_);
    Count(With(labels, "kind", "hedge"), attempts.hedge_count(), further_);
    Count(With(labels, "by", "budget"), attempts.refused_by_budget_count(),
          refused_);
    Count(With(labels, "by", "circuit_breaker"),
          attempts.refused_by_circuit_breaker_count(), refused_);
    Count(With(labels, "by", "limit"), attempts.refused_by_limit_count(),
          refused_);
    Count(labels, attempts.circuit_opened_count(), opened_);
  }

  void AddFaults(const TestResult& result, const metrics::Labels& labels) {
    std::set<std::string> names;  // a damaged result may repeat one
    for (const PlannedFault& fault : PlannedFaultsOf(result)) {
      if (!names.insert(fault.name).second) continue;
      const metrics::Labels own = With(labels, "fault", fault.name);
      Count(own, fault.request_count, affected_);
      Count(own, fault.connection_count, broken_);
      int64_t in_effect_ns = 0;
      for (const FaultSpan& span : fault.spans) {
        base::SaturatingAddTo(in_effect_ns, span.end_ns - span.begin_ns);
      }
      metrics::AddMetric(own, in_effect_).counter.value =
          base::ToSeconds(in_effect_ns);
    }
  }

  void MoveTo(std::vector<MetricFamily>& families) {
    for (MetricFamily* family : {&attempts_, &further_, &refused_, &opened_,
                                 &affected_, &broken_, &in_effect_}) {
      families.push_back(std::move(*family));
    }
  }

 private:
  static MetricFamily CounterFamily(const char* name, const char* help) {
    return metrics::Family(name, help, MetricType::Counter);
  }

  static void Count(const metrics::Labels& labels, int64_t count,
                    MetricFamily& family) {
    metrics::AddMetric(labels, family).counter.value =
        static_cast<double>(count);
  }

  MetricFamily attempts_ =
      CounterFamily("distbench_rpc_attempts_total",
                    "Attempts of RPCs with a policy, by how they ended");
  MetricFamily further_ =
      CounterFamily("distbench_rpc_further_attempts_total",
                    "Attempts after the first one of a request");
  MetricFamily refused_ =
      CounterFamily("distbench_rpc_refused_attempts_total",
                    "Attempts that the caller's own policy did not send");
  MetricFamily opened_ =
      CounterFamily("distbench_rpc_circuits_opened_total",
                    "How often circuit breakers of callers opened");
  MetricFamily affected_ =
      CounterFamily("distbench_fault_affected_requests_total",
                    "Requests that the fault of a server affected");
  MetricFamily broken_ =
      CounterFamily("distbench_fault_broken_connections_total",
                    "Connections that the fault of a server broke");
  MetricFamily in_effect_ =
      CounterFamily("distbench_fault_in_effect_seconds_total",
                    "How long the fault was in effect on some instance");
};

// Collects the families over all runs: all metrics of a family are together.
class RunFamilies {
 public:
  void Add(const TestRun& run, const metrics::Labels& labels) {
    const TestResult& result = *run.result;
    AddRpcs(result, labels);
    policies_and_faults_.AddFaults(result, labels);
    metrics::AddStates(labels, "verdict", kRunVerdicts, RunVerdict(result),
                       verdicts_);
    AddFindings(result, labels);
    for (const Check& check : CheckObjectives(result)) {
      metrics::AddStates(With(labels, "objective", check.condition), "verdict",
                         kObjectiveVerdicts,
                         absl::AsciiStrToLower(VerdictName(check.verdict)),
                         objectives_);
    }
    const RunInfo& info = result.run_info();
    if (info.has_start_timestamp_ns()) {
      AddTime(info.start_timestamp_ns(), labels, starts_);
    }
    if (info.has_end_timestamp_ns()) {
      AddTime(info.end_timestamp_ns(), labels, ends_);
    }
  }

  std::vector<MetricFamily> Take() {
    std::vector<MetricFamily> families = metrics::RpcFamilies(traffic_);
    policies_and_faults_.MoveTo(families);
    for (MetricFamily* family : {&service_times_, &response_times_, &verdicts_,
                                 &findings_, &objectives_, &starts_, &ends_}) {
      families.push_back(std::move(*family));
    }
    return families;
  }

 private:
  static MetricFamily GaugeFamily(const char* name, const char* help) {
    return metrics::Family(name, help, MetricType::Gauge);
  }

  void AddRpcs(const TestResult& result, const metrics::Labels& labels) {
    const TestTotals totals = AddUp(result);
    std::set<std::string> names;  // a damaged result may repeat one
    for (const int index : ListRpcs(result)) {
      const RpcMeasurements rpc = MeasurementsOf(
          result, totals, index, std::numeric_limits<int64_t>::max());
      if (!names.insert(rpc.name).second) continue;
      const metrics::Labels own = With(labels, "rpc", rpc.name);
      traffic_.push_back({own, TrafficOf(rpc)});
      if (rpc.attempts) policies_and_faults_.AddPolicy(*rpc.attempts, own);
      AddPercentiles(rpc.service_time, own, service_times_);
      AddPercentiles(rpc.response_time, own, response_times_);
    }
  }

  static void AddPercentiles(const stats::Outcomes& outcomes,
                             const metrics::Labels& labels,
                             MetricFamily& family) {
    for (const Percentile& percentile : EstimatePercentiles(outcomes, {})) {
      const double seconds = percentile.value_ns == stats::Outcomes::kFailed
                                 ? std::numeric_limits<double>::infinity()
                                 : base::ToSeconds(percentile.value_ns);
      metrics::AddMetric(
          With(labels, "percentile", absl::StrCat(percentile.percent)), family)
          .gauge.value = seconds;
    }
  }

  void AddFindings(const TestResult& result, const metrics::Labels& labels) {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const Finding& finding : result.run_info().findings()) {
      ++counts[{SeverityName(finding.severity()), finding.code()}];
    }
    for (const auto& [kind, count] : counts) {
      metrics::AddMetric(
          With(With(labels, "severity", kind.first), "code", kind.second),
          findings_)
          .gauge.value = count;
    }
  }

  static void AddTime(int64_t unix_ns, const metrics::Labels& labels,
                      MetricFamily& family) {
    metrics::AddMetric(labels, family).gauge.value = base::ToSeconds(unix_ns);
  }

  std::vector<metrics::LabelledTraffic> traffic_;
  PolicyAndFaultFamilies policies_and_faults_;
  MetricFamily service_times_ =
      GaugeFamily("distbench_rpc_service_time_percentile_seconds",
                  "Percentiles of all RPCs; +Inf among failures");
  MetricFamily response_times_ =
      GaugeFamily("distbench_rpc_response_time_percentile_seconds",
                  "Percentiles of all RPCs of open loops; +Inf among failures");
  MetricFamily verdicts_ =
      GaugeFamily("distbench_run_verdict", "1 for the verdict on the run");
  MetricFamily findings_ =
      GaugeFamily("distbench_run_findings", "Findings about the run");
  MetricFamily objectives_ =
      GaugeFamily("distbench_objective", "1 for the verdict on the objective");
  MetricFamily starts_ =
      GaugeFamily("distbench_run_start_timestamp_seconds", "Unix time");
  MetricFamily ends_ =
      GaugeFamily("distbench_run_end_timestamp_seconds", "Unix time");
};

}  // namespace

std::string RenderOpenMetrics(absl::Span<const TestRun> runs) {
  std::map<std::pair<std::string, int>, int> counts;
  for (const TestRun& run : runs) ++counts[{run.name, run.repetition}];
  RunFamilies families;
  for (size_t i = 0; i < runs.size(); ++i) {
    metrics::Labels labels = {{"test", runs[i].name},
                              {"repetition", absl::StrCat(runs[i].repetition)}};
    if (counts[{runs[i].name, runs[i].repetition}] > 1) {
      labels.emplace_back("run", absl::StrCat(i));
    }
    if (IsSimulated(*runs[i].result)) labels.emplace_back("simulated", "true");
    families.Add(runs[i], labels);
  }
  return metrics::OpenMetricsText(families.Take());
}

}  // namespace distbench::report
