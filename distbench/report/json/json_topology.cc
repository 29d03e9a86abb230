#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "distbench/report/json/json_parts.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/measurements/topology.h"
#include "distbench/report/tables/row_writer.h"
#include "distbench/report/tables/table.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

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
  row.AddTimes("", latency == nullptr ? no_latency : *latency, kFigures);
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
