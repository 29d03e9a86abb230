#include "distbench/report/export/openmetrics.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/metrics/families.h"
#include "distbench/metrics/openmetrics_text.h"
#include "distbench/metrics/rpc_traffic.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/simulated_runs.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/check_objectives.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/stats/outcomes.h"

namespace distbench {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr const char* kRunVerdicts[] = {"ok", "warn", "invalid", "failed"};
constexpr const char* kObjectiveVerdicts[] = {"pass", "fail", "undecided"};

Labels With(Labels labels, const std::string& name, const std::string& value) {
  labels.emplace_back(name, value);
  return labels;
}

RpcTraffic TrafficOf(const RpcMeasurements& rpc) {
  RpcTraffic traffic;
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

// Collects the families over all runs: all metrics of a family are together.
class RunFamilies {
 public:
  void Add(const TestRun& run, const Labels& labels) {
    const TestResult& result = *run.result;
    AddRpcs(result, labels);
    AddStates(labels, "verdict", kRunVerdicts, RunVerdict(result), verdicts_);
    AddFindings(result, labels);
    for (const Check& check : CheckObjectives(result)) {
      AddStates(With(labels, "objective", check.condition), "verdict",
                kObjectiveVerdicts,
                absl::AsciiStrToLower(VerdictName(check.verdict)), objectives_);
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
    std::vector<MetricFamily> families = RpcFamilies(traffic_);
    for (MetricFamily* family : {&service_times_, &response_times_, &verdicts_,
                                 &findings_, &objectives_, &starts_, &ends_}) {
      families.push_back(std::move(*family));
    }
    return families;
  }

 private:
  static MetricFamily GaugeFamily(const char* name, const char* help) {
    return Family(name, help, MetricType::Gauge);
  }

  void AddRpcs(const TestResult& result, const Labels& labels) {
    const TestTotals totals = AddUp(result);
    std::set<std::string> names;  // a damaged result may repeat one
    for (const int index : ListRpcs(result)) {
      const RpcMeasurements rpc = MeasurementsOf(
          result, totals, index, std::numeric_limits<int64_t>::max());
      if (!names.insert(rpc.name).second) continue;
      const Labels own = With(labels, "rpc", rpc.name);
      traffic_.push_back({own, TrafficOf(rpc)});
      AddPercentiles(rpc.service_time, own, service_times_);
      AddPercentiles(rpc.response_time, own, response_times_);
    }
  }

  static void AddPercentiles(const Outcomes& outcomes, const Labels& labels,
                             MetricFamily& family) {
    for (const Percentile& percentile : EstimatePercentiles(outcomes, {})) {
      const double seconds =
          percentile.value_ns == Outcomes::kFailed
              ? std::numeric_limits<double>::infinity()
              : static_cast<double>(percentile.value_ns) / kNsPerSecond;
      AddMetric(With(labels, "percentile", absl::StrCat(percentile.percent)),
                family)
          .gauge.value = seconds;
    }
  }

  void AddFindings(const TestResult& result, const Labels& labels) {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const Finding& finding : result.run_info().findings()) {
      ++counts[{SeverityName(finding.severity()), finding.code()}];
    }
    for (const auto& [kind, count] : counts) {
      AddMetric(With(With(labels, "severity", kind.first), "code", kind.second),
                findings_)
          .gauge.value = count;
    }
  }

  static void AddTime(int64_t unix_ns, const Labels& labels,
                      MetricFamily& family) {
    AddMetric(labels, family).gauge.value =
        static_cast<double>(unix_ns) / kNsPerSecond;
  }

  std::vector<LabelledTraffic> traffic_;
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
    Labels labels = {{"test", runs[i].name},
                     {"repetition", absl::StrCat(runs[i].repetition)}};
    if (counts[{runs[i].name, runs[i].repetition}] > 1) {
      labels.emplace_back("run", absl::StrCat(i));
    }
    if (IsSimulated(*runs[i].result)) labels.emplace_back("simulated", "true");
    families.Add(runs[i], labels);
  }
  return OpenMetricsText(families.Take());
}

}  // namespace distbench
