#include "distbench/products/history/measured_result.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/time_units.h"
#include "distbench/config/reading/load.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/stats/metric.h"

namespace distbench::history {
namespace {

// The metrics that an index keeps, and what it calls them; the names of
// percentiles are followed by the kind of latency.
struct KeptMetric {
  stats::Metric metric;
  absl::string_view name;
  absl::string_view unit;
};
constexpr KeptMetric kKeptMetrics[] = {
    {{stats::Metric::Kind::kPercentile, 50}, "p50", "seconds"},
    {{stats::Metric::Kind::kPercentile, 99}, "p99", "seconds"},
    {{stats::Metric::Kind::kPercentile, 99.9}, "p99.9", "seconds"},
    {{stats::Metric::Kind::kRate}, "succeeded", "per_second"},
    {{stats::Metric::Kind::kFailures}, "failed", "share"}};

constexpr double kHeadlinePercent = 99;

// The first RPCs of a test that lists show.
constexpr size_t kHeadlineRpcs = 2;

// Absent: there is no bound, or it falls among failed requests.
std::optional<double> Kept(const stats::Metric& metric,
                           const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return stats::UnitOf(metric) == stats::MetricUnit::kNs
             ? *value / base::kNsPerSecond
             : *value;
}

std::vector<MeasuredMetric> MetricsOf(const report::RpcMeasurements& rpc) {
  std::vector<MeasuredMetric> metrics;
  for (const KeptMetric& kept : kKeptMetrics) {
    const stats::Metric& metric = kept.metric;
    const report::LatencyKind latency = rpc.latency_kind();
    const auto estimate = report::Measure(metric, rpc, latency);
    if (!estimate.ok() || !report::IsSupported(metric, rpc, latency)) continue;
    std::string name(kept.name);
    if (stats::IsLatency(metric)) {
      absl::StrAppend(&name, " ", report::LatencyName(latency));
    }
    metrics.push_back({.rpc = rpc.name,
                       .metric = std::move(name),
                       .unit = std::string(kept.unit),
                       .higher_is_better = stats::HigherIsBetter(metric),
                       .value = Kept(metric, estimate->value),
                       .low = Kept(metric, estimate->lower),
                       .high = Kept(metric, estimate->upper)});
  }
  if (rpc.offered && rpc.offered->offered_count() > 0) {
    const auto offered = static_cast<double>(rpc.offered->offered_count());
    const auto unsent = static_cast<double>(rpc.offered->unsent_count());
    metrics.push_back({.rpc = rpc.name,
                       .metric = "sent of offered",
                       .unit = "share",
                       .higher_is_better = true,
                       .value = 1 - unsent / offered});
  }
  return metrics;
}

bool IsHeadline(const MeasuredMetric& metric) {
  return metric.metric == "succeeded" ||
         metric.metric.rfind(absl::StrCat("p", kHeadlinePercent, " "), 0) == 0;
}

void AddMetrics(const TestResult& result, MeasuredTest& test) {
  const bool is_trusted = test.verdict == "ok" || test.verdict == "warn";
  const report::TestTotals totals = report::AddUp(result);
  size_t rpcs = 0;
  for (const int rpc_index : report::ListRpcs(result)) {
    const report::RpcMeasurements rpc = report::MeasurementsOf(
        result, totals, rpc_index, std::numeric_limits<int64_t>::max());
    for (MeasuredMetric& metric : MetricsOf(rpc)) {
      if (!is_trusted) metric.value = metric.low = metric.high = std::nullopt;
      if (metric.value && rpcs < kHeadlineRpcs && IsHeadline(metric)) {
        test.headline[absl::StrCat(metric.rpc, " · ", metric.metric)] =
            *metric.value;
      }
      test.metrics.push_back(std::move(metric));
    }
    ++rpcs;
  }
}

// Neither label nor seed: they differ where nothing has changed.
std::string ConfigDigest(DistributedSystemDescription config) {
  config.clear_name();
  config.clear_attributes();
  return config::ConfigHash(std::move(config));
}

std::string Joined(const std::set<std::string>& values) {
  return absl::StrJoin(values, ", ");
}

// Facts that comparisons do not list.
void AddHostFacts(const TestResult& result,
                  std::map<std::string, std::string>& facts) {
  std::set<std::string> numa_nodes;
  std::set<std::string> devices;
  std::map<std::string, std::set<std::string>> versions;
  for (const auto& [node, resources] :
       result.resource_usage_logs().node_resources()) {
    const HostFacts& host = resources.host();
    if (host.has_numa_node_count()) {
      numa_nodes.insert(absl::StrCat(host.numa_node_count()));
    }
    for (const NetworkDevice& device : host.network_devices()) {
      devices.insert(absl::StrCat(device.name(), " MTU ", device.mtu()));
    }
    for (const auto& [name, version] : host.versions()) {
      versions[absl::StrCat("version of ", name)].insert(version);
    }
  }
  facts["NUMA nodes"] = Joined(numa_nodes);
  facts["network devices"] = Joined(devices);
  for (const auto& [name, values] : versions) facts[name] = Joined(values);
}

std::map<std::string, std::string> FactsOf(const report::TestRun& run) {
  std::map<std::string, std::string> facts;
  for (const report::Circumstance& circumstance :
       report::CompareCircumstances({run}, {run})) {
    facts[circumstance.name] = circumstance.base;
  }
  AddHostFacts(*run.result, facts);
  facts["config"] = ConfigDigest(run.result->traffic_config());
  for (auto fact = facts.begin(); fact != facts.end();) {
    fact = fact->second.empty() ? facts.erase(fact) : std::next(fact);
  }
  return facts;
}

void AddPlaces(const TestResult& result, MeasuredTest& test) {
  test.attributes.insert(result.traffic_config().attributes().begin(),
                         result.traffic_config().attributes().end());
  std::map<std::string, std::set<std::string>> of_nodes;
  for (const auto& [instance, endpoint] :
       result.placement().service_endpoints()) {
    if (endpoint.has_hostname()) test.hosts.insert(endpoint.hostname());
    for (const Attribute& attribute : endpoint.attributes()) {
      of_nodes[attribute.name()].insert(attribute.value());
    }
  }
  for (const auto& [name, values] : of_nodes) {
    test.attributes.try_emplace(name, Joined(values));
  }
  if (report::IsSimulated(result)) test.attributes["simulated"] = "true";
}

constexpr absl::string_view kSearchMark = " (search)";

bool IsOfSearch(const report::TestRun& run) {
  return run.sequence->searches_size() > 0;
}

// Tests are known by their names, in lists, filters and series. A test that is
// called like a simulated one, or like a run of a search, must not be taken for
// it.
std::string SeriesName(const report::TestRun& run) {
  std::string name = run.name;
  if (IsOfSearch(run)) {
    absl::StrAppend(&name, kSearchMark);
  } else if (absl::EndsWith(name, kSearchMark)) {
    name += " (no search)";
  }
  const bool is_misleading = !report::IsSimulated(*run.result) &&
                             absl::EndsWith(name, report::kSimulatedMark);
  return is_misleading ? absl::StrCat(name, " (real)")
                       : report::MarkedName(name, *run.result);
}

}  // namespace

MeasuredTest Measure(const report::TestRun& run) {
  const TestResult& result = *run.result;
  const RunInfo& info = result.run_info();
  MeasuredTest test;
  test.name = SeriesName(run);
  test.started_ms =
      std::max<int64_t>(0, info.start_timestamp_ns()) / base::kNsPerMs;
  // Damaged times must not overflow.
  test.duration_seconds =
      std::max(0.0, static_cast<double>(info.end_timestamp_ns()) -
                        static_cast<double>(info.start_timestamp_ns())) /
      base::kNsPerSecond;
  test.verdict = report::RunVerdict(result);
  AddPlaces(result, test);
  if (IsOfSearch(run)) {
    test.attributes["search"] =
        absl::StrJoin(run.sequence->searches(0).search().objectives(), " and ");
  }
  test.facts = FactsOf(run);
  AddMetrics(result, test);
  return test;
}

}  // namespace distbench::history
