#include "distbench/products/history/measured_result.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/time_units.h"
#include "distbench/config/reading/load.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/stats/outcomes.h"

namespace distbench::history {
namespace {

constexpr double kKeptPercents[] = {50, 99, 99.9};
constexpr double kHeadlinePercent = 99;

// The first RPCs of a test that lists show.
constexpr size_t kHeadlineRpcs = 2;

// Absent: there is no bound, or it falls among failed requests.
std::optional<double> Bound(const std::optional<int64_t>& ns) {
  if (!ns || *ns == stats::Outcomes::kFailed) return std::nullopt;
  return base::ToSeconds(*ns);
}

MeasuredMetric Share(const report::RpcMeasurements& rpc, absl::string_view name,
                     double value, bool higher) {
  return {.rpc = rpc.name,
          .metric = std::string(name),
          .unit = "share",
          .higher_is_better = higher,
          .value = value};
}

void AddPercentiles(const report::RpcMeasurements& rpc,
                    std::vector<MeasuredMetric>& metrics) {
  if (rpc.latency().count() == 0) return;
  const bool has_response = rpc.response_time.count() > 0;
  const std::vector<stats::Outcomes> blocks =
      has_response ? report::ResponseTimeBlocks(rpc.series)
                   : report::ServiceTimeBlocks(rpc.series);
  for (const report::Percentile& percentile :
       report::EstimatePercentiles(rpc.latency(), blocks)) {
    if (!absl::c_linear_search(kKeptPercents, percentile.percent)) continue;
    metrics.push_back({.rpc = rpc.name,
                       .metric = absl::StrCat(
                           "p", percentile.percent,
                           has_response ? " response time" : " service time"),
                       .unit = "seconds",
                       .value = Bound(percentile.value_ns),
                       .low = Bound(percentile.interval.lower),
                       .high = Bound(percentile.interval.upper)});
  }
}

std::vector<MeasuredMetric> MetricsOf(const report::RpcMeasurements& rpc) {
  std::vector<MeasuredMetric> metrics;
  AddPercentiles(rpc, metrics);
  const results::RpcCounts& counts = rpc.totals.counts;
  const auto succeeded = static_cast<double>(counts.succeeded_count);
  metrics.push_back(
      {.rpc = rpc.name,
       .metric = "succeeded",
       .unit = "per_second",
       .higher_is_better = true,
       .value = report::PerSecond(succeeded, counts.duration_ns())});
  if (rpc.latency().count() > 0) {
    metrics.push_back(
        Share(rpc, "failed", rpc.latency().failed_share(), /*higher=*/false));
  }
  if (rpc.offered && rpc.offered->offered_count() > 0) {
    const auto offered = static_cast<double>(rpc.offered->offered_count());
    const auto unsent = static_cast<double>(rpc.offered->unsent_count());
    metrics.push_back(
        Share(rpc, "sent of offered", 1 - unsent / offered, /*higher=*/true));
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
