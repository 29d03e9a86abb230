#include "distbench/report/json/json_parts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/json.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/json/json_values.h"
#include "distbench/report/measurements/planned_faults.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/measurements/topology.h"
#include "distbench/report/objectives/check_objectives.h"
#include "distbench/report/tables/table.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::report {
namespace {

using base::Json;

constexpr double kBytesPerMib = 1 << 20;

}  // namespace

std::string BindingText(const BindingProof& proof) {
  if (!proof.has_binding()) return "none";
  const NumaBinding& binding = proof.binding();
  std::string policy = NumaBinding::MemoryPolicy_Name(binding.memory_policy());
  std::transform(policy.begin(), policy.end(), policy.begin(), ::tolower);
  return absl::StrCat("CPUs ", binding.cpus(), ", memory ", policy,
                      binding.memory_nodes().empty() ? "" : " ",
                      binding.memory_nodes());
}

std::string ResidentText(const BindingProof& proof) {
  const std::map<int, int64_t> nodes(proof.resident_bytes_by_node().begin(),
                                     proof.resident_bytes_by_node().end());
  std::vector<std::string> parts;
  for (const auto& [node, bytes] : nodes) {
    parts.push_back(
        absl::StrFormat("%d: %.1f MiB", node, bytes / kBytesPerMib));
  }
  return parts.empty() ? "-" : absl::StrJoin(parts, ", ");
}

std::string CpusText(const BindingProof& proof) {
  const std::map<int, int64_t> cpus(proof.cpu_time_ns_by_cpu().begin(),
                                    proof.cpu_time_ns_by_cpu().end());
  double sum = 0;
  for (const auto& [cpu, ns] : cpus) sum += static_cast<double>(ns);
  std::vector<std::string> parts;
  for (const auto& [cpu, ns] : cpus) {
    parts.push_back(absl::StrFormat("%d: %.0f %%", cpu, 100 * ns / sum));
  }
  return parts.empty() ? "-" : absl::StrJoin(parts, ", ");
}

Json BindingProofJson(const std::string& instance, const BindingProof& proof) {
  Json json = {
      {"instance", instance},
      {"binding", base::OrNull(proof.has_binding(), BindingText(proof))},
      {"is_strict", proof.binding().strict()}};
  json.update(FieldsJson(
      proof, {"resident_bytes_by_node", "cpu_time_ns_by_cpu",
              "voluntary_context_switches", "involuntary_context_switches",
              "cpu_migrations", "numa_counters_by_node", "violations"}));
  return json;
}

namespace {

Json ObjectiveJson(const JudgedObjective& judged) {
  const std::optional<config::Objective>& objective = judged.objective;
  return {{"objective", judged.check.condition},
          {"verdict", absl::AsciiStrToLower(VerdictName(judged.check.verdict))},
          {"unit", objective ? Json(std::string(
                                   stats::UnitName(config::UnitOf(*objective))))
                             : Json(nullptr)},
          {"limit", objective ? Json(objective->limit) : Json(nullptr)},
          {"measured", FigureJson(judged.measured)},
          {"lower", FigureJson(judged.lower)},
          {"upper", FigureJson(judged.upper)},
          {"evidence", judged.check.evidence}};
}

}  // namespace

Json ObjectivesJson(const TestResult& result) {
  return ListJson(JudgeObjectives(result), ObjectiveJson);
}

namespace {

// Enough for smooth curves on a screen.
constexpr int kPointsPerHalving = 24;

Json Bound(const std::optional<int64_t>& bound) {
  return bound ? OutcomeJson(*bound) : Json(nullptr);
}

Json PercentileJson(const Percentile& percentile) {
  return {{"percentile", percentile.percent},
          {"value_ns", OutcomeJson(percentile.value_ns)},
          {"lower_ns", Bound(percentile.interval.lower)},
          {"upper_ns", Bound(percentile.interval.upper)},
          {"method", MethodName(percentile.interval.method)}};
}

// Percentiles and distribution cover all outcomes; minimum, mean, deviation and
// maximum cover those that succeeded, and are null if none did.
Json LatencyJson(const stats::Outcomes& outcomes,
                 const std::vector<stats::Outcomes>& blocks) {
  if (outcomes.count() == 0) return nullptr;
  const stats::LogHistogram& latency_ns = outcomes.latency_ns;
  const auto of_succeeded = [&](auto value) {
    return latency_ns.count() > 0 ? Json(value()) : Json(nullptr);
  };
  Json json = {{"count", outcomes.count()},
               {"failed_count", outcomes.failed_count},
               {"overflow_count", latency_ns.overflow_count()},
               {"min_ns", of_succeeded([&] { return latency_ns.min(); })},
               {"mean_ns", of_succeeded([&] { return latency_ns.mean(); })},
               {"standard_deviation_ns",
                of_succeeded([&] { return latency_ns.standard_deviation(); })},
               {"max_ns", of_succeeded([&] { return latency_ns.max(); })},
               {"percentiles", ListJson(EstimatePercentiles(outcomes, blocks),
                                        PercentileJson)}};
  Json& distribution = json["distribution"] = Json::array();
  for (const CurvePoint& point :
       PercentileCurve(latency_ns, kPointsPerHalving)) {
    distribution.push_back({point.value, point.count_at_most});
  }
  return json;
}

}  // namespace

Json OutcomeJson(int64_t value_ns) {
  return value_ns == stats::Outcomes::kFailed ? Json("failed") : Json(value_ns);
}

Json RpcJson(const RpcMeasurements& rpc) {
  const results::RpcCounts& counts = rpc.totals.counts;
  Json json = {
      {"name", rpc.name},
      {"succeeded_count", counts.succeeded_count},
      {"failed_count", counts.failed_count},
      {"warmup_count", counts.warmup_count},
      {"request_bytes", counts.request_bytes},
      {"response_bytes", counts.response_bytes},
      {"dropped_sample_count", counts.dropped_sample_count},
      {"duration_ns", counts.duration_ns()},
      {"per_second", PerSecond(static_cast<double>(counts.succeeded_count),
                               counts.duration_ns())},
      {"offered_load",
       rpc.offered
           ? FieldsJson(*rpc.offered,
                        {"offered_count", "unsent_count", "held_back_count"},
                        AbsentField::kDefault)
           : Json(nullptr)},
      {"streams", rpc.streams ? FieldsJson(*rpc.streams,
                                           {"stream_count", "request_messages",
                                            "response_messages",
                                            "request_bytes", "response_bytes"},
                                           AbsentField::kDefault)
                              : Json(nullptr)}};
  Json& failures = json["failures"] = Json::array();
  for (const auto& [cause, count] : rpc.failures) {
    failures.push_back({{"cause", cause}, {"count", count}});
  }
  json["service_time"] =
      LatencyJson(rpc.service_time, ServiceTimeBlocks(rpc.series));
  json["response_time"] =
      LatencyJson(rpc.response_time, ResponseTimeBlocks(rpc.series));
  json["lateness"] = LatencyJson({.latency_ns = rpc.totals.lateness_ns}, {});
  json["series_left_out"] = rpc.series.left_out_count;
  const bool has_traffic = rpc.traffic.has_value();
  const TrafficSpan traffic = rpc.traffic.value_or(TrafficSpan());
  json["start_timestamp_ns"] = base::OrNull(has_traffic, traffic.start_ns);
  json["end_timestamp_ns"] = base::OrNull(has_traffic, traffic.end_ns);
  return json;
}

namespace {

// Times that a page can draw.
constexpr size_t kMaxSpans = 1000;

Json FaultJson(const PlannedFault& fault) {
  Json spans = Json::array();
  for (const FaultSpan& span : fault.spans) {
    if (spans.size() == kMaxSpans) break;
    spans.push_back({{"begin_timestamp_ns", span.begin_ns},
                     {"end_timestamp_ns", span.end_ns}});
  }
  return {{"name", fault.name},
          {"description", fault.description},
          {"request_count", fault.request_count},
          {"connection_count", fault.connection_count},
          {"times", spans}};
}

Json WaitJson(const stats::LogHistogram& wait_ns) {
  if (wait_ns.count() == 0) return nullptr;
  return {{"mean_ns", wait_ns.mean()},
          {"p50_ns", wait_ns.ValueAtQuantile(0.5)},
          {"p90_ns", wait_ns.ValueAtQuantile(0.9)},
          {"p99_ns", wait_ns.ValueAtQuantile(0.99)},
          {"max_ns", wait_ns.max()}};
}

Json ServiceAdmissionJson(const ServiceAdmission& admission) {
  return {{"service", admission.service},
          {"admitted_count", admission.admitted_count},
          {"refused_count", admission.refused_count},
          {"wait", WaitJson(admission.wait_ns)}};
}

}  // namespace

Json ServerFaultsJson(const TestResult& result) {
  return ListJson(PlannedFaultsOf(result), FaultJson);
}

Json AdmissionJson(const TestResult& result) {
  return ListJson(AdmissionsOf(result), ServiceAdmissionJson);
}

// ---- Topology ---------------------------------------------------------------

namespace {

constexpr TimeFigure kFigures[] = {figures::kP50, figures::kP99};

void WriteTraffic(RowWriter& row, const RpcTraffic& traffic) {
  const results::RpcCounts& counts = traffic.counts;
  const int64_t duration_ns = counts.duration_ns();
  const OfferedLoad load = traffic.offered.value_or(OfferedLoad());
  static const stats::Outcomes& no_latency = *new stats::Outcomes;
  const stats::Outcomes* latency = traffic.latency();
  const auto per_second = [&](int64_t count) {
    return PerSecond(static_cast<double>(count), duration_ns);
  };
  row.Add("offered_per_second", load.offered_count() > 0 && duration_ns > 0
                                    ? Cell(per_second(load.offered_count()))
                                    : Cell());
  row.Add("succeeded_per_second", per_second(counts.succeeded_count));
  row.Add("succeeded", counts.succeeded_count);
  row.Add("failed", counts.failed_count);
  row.Add("unsent", load.unsent_count());
  const stats::Outcomes& times = latency == nullptr ? no_latency : *latency;
  row.Add("latency_count", OptionalCell(latency != nullptr,
                                        static_cast<int64_t>(times.count())));
  row.Add("latency_failed",
          OptionalCell(latency != nullptr,
                       static_cast<int64_t>(times.failed_count)));
  row.AddTimes("", times, kFigures);
  if (latency == nullptr) {
    row.Add("latency", {});
  } else {
    row.Add("latency",
            latency == &traffic.response_time ? "response" : "service");
  }
}

void WriteInstance(RowWriter& row, const TopologyInstance& instance) {
  row.Add("instance", instance.instance);
  row.Add("service", instance.service);
  row.Add("rpc", instance.rpc);
  row.Add("role", instance.is_server ? "server" : "client");
  WriteTraffic(row, instance.traffic);
}

Json ServiceJson(const TopologyService& service) {
  return {{"name", service.name},
          {"instances", service.instance_count},
          {"tier", service.tier},
          {"external_addresses", Json(service.external_addresses)}};
}

Json EdgeJson(const TopologyEdge& edge) {
  static const std::vector<std::string>& columns =
      *new std::vector<std::string>(ColumnsOf(WriteTraffic));
  Json json = {{"rpc", edge.rpc},
               {"client", edge.client},
               {"server", edge.server},
               {"is_entry", edge.is_entry}};
  const Row cells = RowOf(WriteTraffic, edge.traffic);
  for (size_t i = 0; i < cells.size(); ++i) {
    json[columns[i]] = CellJson(cells[i]);
  }
  return json;
}

// -1 if it is unknown.
int64_t ValueAt(const RpcTraffic& traffic, double quantile) {
  const stats::Outcomes* latency = traffic.latency();
  if (latency == nullptr ||
      !stats::SupportsQuantile(latency->count(), quantile)) {
    return -1;
  }
  return latency->ValueAtQuantile(quantile);
}

// Larger is worse.
using Badness = std::tuple<int64_t, int64_t, int64_t>;

Badness BadnessOf(const RpcTraffic& traffic) {
  return {ValueAt(traffic, 0.99), traffic.counts.failed_count,
          ValueAt(traffic, 0.5)};
}

std::vector<const TopologyInstance*> WorstFirst(
    const std::vector<TopologyInstance>& instances) {
  std::vector<std::pair<Badness, const TopologyInstance*>> ranks;
  for (const TopologyInstance& instance : instances) {
    ranks.push_back({BadnessOf(instance.traffic), &instance});
  }
  std::stable_sort(
      ranks.begin(), ranks.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const TopologyInstance*> sorted;
  for (const auto& [badness, instance] : ranks) sorted.push_back(instance);
  return sorted;
}

Json InstancesJson(const std::vector<TopologyInstance>& instances,
                   int64_t max_rows) {
  return RowsJson(
      ColumnsOf(WriteInstance),
      [&](RowSink sink) {
        for (const TopologyInstance* instance : WorstFirst(instances)) {
          sink(RowOf(WriteInstance, *instance));
        }
      },
      max_rows);
}

}  // namespace

Json TopologyJson(const Topology& topology, int64_t max_instance_rows) {
  return {{"services", ListJson(topology.services, ServiceJson)},
          {"edges", ListJson(topology.edges, EdgeJson)},
          {"instances", InstancesJson(topology.instances, max_instance_rows)}};
}

}  // namespace distbench::report
