// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/export/openmetrics.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/metrics/openmetrics.h"
#include "distbench/metrics/rpc_traffic.h"
#include "distbench/report/measurements/faults.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/objectives.h"
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

// The families after those of metrics::RpcFamilies(), in their order.
enum FamilyId {
  kAttempts,
  kFurtherAttempts,
  kRefusedAttempts,
  kCircuitsOpened,
  kAffectedRequests,
  kBrokenConnections,
  kInEffect,
  kServiceTimes,
  kResponseTimes,
  kVerdicts,
  kFindings,
  kObjectives,
  kStarts,
  kEnds,
};

struct FamilyText {
  const char* name;  // ends with "_total" if it is a counter
  const char* help;
};
constexpr FamilyText kFamilies[] = {
    {"distbench_rpc_attempts_total",
     "Attempts of RPCs with a policy, by how they ended"},
    {"distbench_rpc_further_attempts_total",
     "Attempts after the first one of a request"},
    {"distbench_rpc_refused_attempts_total",
     "Attempts that the caller's own policy did not send"},
    {"distbench_rpc_circuits_opened_total",
     "How often circuit breakers of callers opened"},
    {"distbench_fault_affected_requests_total",
     "Requests that the fault of a server affected"},
    {"distbench_fault_broken_connections_total",
     "Connections that the fault of a server broke"},
    {"distbench_fault_in_effect_seconds_total",
     "How long the fault was in effect on some instance"},
    {"distbench_rpc_service_time_percentile_seconds",
     "Percentiles of all RPCs; +Inf among failures"},
    {"distbench_rpc_response_time_percentile_seconds",
     "Percentiles of all RPCs of open loops; +Inf among failures"},
    {"distbench_run_verdict", "1 for the verdict on the run"},
    {"distbench_run_findings", "Findings about the run"},
    {"distbench_objective", "1 for the verdict on the objective"},
    {"distbench_run_start_timestamp_seconds", "Unix time"},
    {"distbench_run_end_timestamp_seconds", "Unix time"}};

// Collects the families over all runs: all metrics of a family are together.
class RunFamilies {
 public:
  RunFamilies() {
    for (const FamilyText& text : kFamilies) {
      families_.push_back(metrics::Family(text.name, text.help,
                                          absl::EndsWith(text.name, "_total")
                                              ? MetricType::Counter
                                              : MetricType::Gauge));
    }
  }

  void Add(const TestRun& run, const metrics::Labels& labels) {
    const TestResult& result = *run.result;
    const TestTotals totals = AddUp(result);
    AddRpcs(result, totals, labels);
    AddFaults(result, labels);
    metrics::AddStates(labels, "verdict", kRunVerdicts,
                       RunVerdict(result, totals), families_[kVerdicts]);
    AddFindings(FindingsOf(result, totals), labels);
    for (const Check& check : CheckObjectives(result)) {
      metrics::AddStates(With(labels, "objective", check.condition), "verdict",
                         kObjectiveVerdicts,
                         absl::AsciiStrToLower(VerdictName(check.verdict)),
                         families_[kObjectives]);
    }
    const RunInfo& info = result.run_info();
    if (info.has_start_timestamp_ns()) {
      Set(kStarts, labels, base::ToSeconds(info.start_timestamp_ns()));
    }
    if (info.has_end_timestamp_ns()) {
      Set(kEnds, labels, base::ToSeconds(info.end_timestamp_ns()));
    }
  }

  std::vector<MetricFamily> Take() {
    std::vector<MetricFamily> all = metrics::RpcFamilies(traffic_);
    std::move(families_.begin(), families_.end(), std::back_inserter(all));
    return all;
  }

 private:
  void Set(FamilyId id, const metrics::Labels& labels, double value) {
    prometheus::ClientMetric& metric =
        metrics::AddMetric(labels, families_[id]);
    const bool is_counter = families_[id].type == MetricType::Counter;
    (is_counter ? metric.counter.value : metric.gauge.value) = value;
  }

  void AddRpcs(const TestResult& result, const TestTotals& totals,
               const metrics::Labels& labels) {
    std::set<std::string> names;  // a damaged result may repeat one
    for (const int index : ListRpcs(result)) {
      const RpcMeasurements rpc =
          MeasurementsOf(result, totals, index, /*max_intervals=*/1);
      if (!names.insert(rpc.name).second) continue;
      const metrics::Labels own = With(labels, "rpc", rpc.name);
      traffic_.push_back({own, TrafficOf(rpc)});
      if (rpc.attempts) AddPolicy(*rpc.attempts, own);
      AddPercentiles(rpc.service_time, own, kServiceTimes);
      AddPercentiles(rpc.response_time, own, kResponseTimes);
    }
  }

  void AddPolicy(const PolicyStatistics& attempts,
                 const metrics::Labels& labels) {
    const auto add = [&](FamilyId id, const std::string& label,
                         const std::string& value, int64_t count) {
      Set(id, With(labels, label, value), static_cast<double>(count));
    };
    add(kAttempts, "outcome", "succeeded", attempts.succeeded_attempt_count());
    add(kAttempts, "outcome", "failed", attempts.failed_attempt_count());
    add(kAttempts, "outcome", "abandoned", attempts.abandoned_attempt_count());
    add(kFurtherAttempts, "kind", "retry", attempts.retry_count());
    add(kFurtherAttempts, "kind", "hedge", attempts.hedge_count());
    add(kRefusedAttempts, "by", "budget", attempts.refused_by_budget_count());
    add(kRefusedAttempts, "by", "circuit_breaker",
        attempts.refused_by_circuit_breaker_count());
    add(kRefusedAttempts, "by", "limit", attempts.refused_by_limit_count());
    Set(kCircuitsOpened, labels,
        static_cast<double>(attempts.circuit_opened_count()));
  }

  // What servers did on purpose.
  void AddFaults(const TestResult& result, const metrics::Labels& labels) {
    std::set<std::string> names;  // a damaged result may repeat one
    for (const PlannedFault& fault : PlannedFaultsOf(result)) {
      if (!names.insert(fault.name).second) continue;
      const metrics::Labels own = With(labels, "fault", fault.name);
      int64_t in_effect_ns = 0;
      for (const FaultSpan& span : fault.spans) {
        base::SaturatingAddTo(in_effect_ns, span.end_ns - span.begin_ns);
      }
      Set(kAffectedRequests, own, static_cast<double>(fault.request_count));
      Set(kBrokenConnections, own, static_cast<double>(fault.connection_count));
      Set(kInEffect, own, base::ToSeconds(in_effect_ns));
    }
  }

  void AddPercentiles(const stats::Outcomes& outcomes,
                      const metrics::Labels& labels, FamilyId id) {
    for (const Percentile& percentile : EstimatePercentiles(outcomes, {})) {
      const bool is_failed = percentile.value_ns == stats::Outcomes::kFailed;
      Set(id, With(labels, "percentile", absl::StrCat(percentile.percent)),
          is_failed ? std::numeric_limits<double>::infinity()
                    : base::ToSeconds(percentile.value_ns));
    }
  }

  void AddFindings(const std::vector<Finding>& findings,
                   const metrics::Labels& labels) {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const Finding& finding : findings) {
      ++counts[{SeverityName(finding.severity()), finding.code()}];
    }
    for (const auto& [kind, count] : counts) {
      Set(kFindings,
          With(With(labels, "severity", kind.first), "code", kind.second),
          count);
    }
  }

  std::vector<metrics::LabelledTraffic> traffic_;
  std::vector<MetricFamily> families_;  // by FamilyId
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
