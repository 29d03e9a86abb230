#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "distbench/report/json/json_parts.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/measurements/topology.h"
#include "distbench/report/tables/table.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTrafficFields[] = {"offered_per_second",
                                          "succeeded_per_second",
                                          "succeeded",
                                          "failed",
                                          "unsent",
                                          "p50_ns",
                                          "p99_ns",
                                          "latency"};

// The cells of kTrafficFields.
Row TrafficCells(const RpcTraffic& traffic) {
  const results::RpcCounts& counts = traffic.counts;
  const int64_t duration_ns = counts.duration_ns();
  const OfferedLoad load = traffic.offered.value_or(OfferedLoad());
  Row row(2);
  if (load.offered_count() > 0 && duration_ns > 0) {
    row[0] = PerSecond(static_cast<double>(load.offered_count()), duration_ns);
  }
  row[1] = PerSecond(static_cast<double>(counts.succeeded_count), duration_ns);
  row.insert(row.end(), {counts.succeeded_count, counts.failed_count,
                         load.unsent_count()});
  const stats::Outcomes* latency = traffic.latency();
  if (latency == nullptr) {
    row.resize(row.size() + 3);
    return row;
  }
  row.push_back(QuantileCell(*latency, 0.5));
  row.push_back(QuantileCell(*latency, 0.99));
  row.push_back(latency == &traffic.response_time ? "response" : "service");
  return row;
}

Json EdgeJson(const TopologyEdge& edge) {
  Json json = {{"rpc", edge.rpc},
               {"client", edge.client},
               {"server", edge.server},
               {"is_entry", edge.is_entry}};
  const Row cells = TrafficCells(edge.traffic);
  for (size_t i = 0; i < cells.size(); ++i) {
    json[kTrafficFields[i]] = CellJson(cells[i]);
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
  Json json = {{"columns", {"instance", "service", "rpc", "role"}},
               {"rows", Json::array()},
               {"rows_left_out", 0}};
  for (const char* field : kTrafficFields) json["columns"].push_back(field);
  int64_t left_out = 0;
  for (const TopologyInstance* instance : WorstFirst(instances)) {
    if (static_cast<int64_t>(json["rows"].size()) >= max_rows) {
      ++left_out;
      continue;
    }
    Row row = {instance->instance, instance->service, instance->rpc,
               instance->is_server ? "server" : "client"};
    const Row cells = TrafficCells(instance->traffic);
    row.insert(row.end(), cells.begin(), cells.end());
    json["rows"].push_back(RowJson(row));
  }
  json["rows_left_out"] = left_out;
  return json;
}

}  // namespace

Json TopologyJson(const Topology& topology, int64_t max_instance_rows) {
  Json json = {{"services", Json::array()}, {"edges", Json::array()}};
  for (const TopologyService& service : topology.services) {
    json["services"].push_back(
        {{"name", service.name},
         {"instances", service.instance_count},
         {"tier", service.tier},
         {"external_addresses", Json(service.external_addresses)}});
  }
  for (const TopologyEdge& edge : topology.edges) {
    json["edges"].push_back(EdgeJson(edge));
  }
  json["instances"] = InstancesJson(topology.instances, max_instance_rows);
  return json;
}

}  // namespace distbench::report
