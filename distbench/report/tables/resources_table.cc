#include "absl/strings/match.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/resource_usage.h"

namespace distbench::report {
namespace {

struct NetworkTotals {
  int64_t received_bytes = 0;
  int64_t sent_bytes = 0;
  int64_t dropped_packets = 0;
};

NetworkTotals AddUpDevices(const ResourceSample& sample) {
  NetworkTotals totals;
  for (const auto& [name, counters] : sample.network()) {
    base::SaturatingAddTo(totals.received_bytes, counters.received_bytes());
    base::SaturatingAddTo(totals.sent_bytes, counters.sent_bytes());
    base::SaturatingAddTo(totals.dropped_packets, counters.dropped_packets());
  }
  return totals;
}

void AddDataConnections(const ResourceSample& sample, Row& row) {
  const DataConnections& connections = sample.data_connections();
  const bool is_known = sample.has_data_connections();
  row.push_back(OptionalCell(is_known, connections.connection_count()));
  row.push_back(OptionalCell(is_known, connections.sent_segments()));
  row.push_back(OptionalCell(is_known, connections.retransmitted_segments()));
  row.push_back(
      OptionalCell(is_known, connections.congestion_marked_segments()));
  row.push_back(
      OptionalCell(connections.has_mean_rtt_ns(), connections.mean_rtt_ns()));
  row.push_back(
      OptionalCell(connections.has_max_rtt_ns(), connections.max_rtt_ns()));
}

void AddHardwareCounters(const ResourceSample& sample, Row& row) {
  const HardwareCounters& counters = sample.hardware_counters();
  row.push_back(OptionalCell(counters.has_cycles(), counters.cycles()));
  row.push_back(
      OptionalCell(counters.has_instructions(), counters.instructions()));
  row.push_back(OptionalCell(counters.has_cache_references(),
                             counters.cache_references()));
  row.push_back(
      OptionalCell(counters.has_cache_misses(), counters.cache_misses()));
}

// Of all packages; other domains are parts of these, or contain them.
void AddEnergy(const ResourceSample& sample, Row& row) {
  bool is_known = false;
  int64_t package_uj = 0;
  for (const auto& [domain, energy_uj] : sample.energy_uj()) {
    if (!absl::StartsWith(domain, "package-") ||
        absl::StrContains(domain, '/')) {
      continue;
    }
    is_known = true;
    base::SaturatingAddTo(package_uj, energy_uj);
  }
  row.push_back(OptionalCell(is_known, package_uj));
}

Row ResourceRow(const std::string& node, const ResourceSample& sample) {
  const NetworkTotals network = AddUpDevices(sample);
  Row row = {node,
             sample.end_timestamp_ns(),
             static_cast<double>(sample.duration_ns()) / 1e9,
             sample.process_cpu_ns(),
             sample.host_cpu_ns(),
             sample.resident_bytes(),
             sample.host_available_memory_bytes(),
             sample.voluntary_context_switches(),
             sample.involuntary_context_switches(),
             network.received_bytes,
             network.sent_bytes,
             network.dropped_packets,
             OptionalCell(sample.has_busiest_cpu_ns(), sample.busiest_cpu_ns()),
             OptionalCell(sample.has_run_queue_delay_ns(),
                          sample.run_queue_delay_ns())};
  for (const auto& [name, value] :
       results::ListCounters(sample.host_counters())) {
    row.push_back(OptionalCell(value.has_value(), value.value_or(0)));
  }
  AddDataConnections(sample, row);
  AddHardwareCounters(sample, row);
  AddEnergy(sample, row);
  return row;
}

std::vector<std::string> ResourceColumns() {
  std::vector<std::string> columns = {"node",
                                      "end_timestamp_ns",
                                      "duration_s",
                                      "process_cpu_ns",
                                      "host_cpu_ns",
                                      "resident_bytes",
                                      "host_available_memory_bytes",
                                      "voluntary_context_switches",
                                      "involuntary_context_switches",
                                      "network_received_bytes",
                                      "network_sent_bytes",
                                      "network_dropped_packets",
                                      "busiest_cpu_ns",
                                      "run_queue_delay_ns"};
  for (const auto& [name, value] : results::ListCounters({}))
    columns.push_back(name);
  for (const char* name :
       {"data_connections", "data_sent_segments", "data_retransmitted_segments",
        "data_congestion_marked_segments", "data_mean_rtt_ns",
        "data_max_rtt_ns", "cycles", "instructions", "cache_references",
        "cache_misses", "package_energy_uj"}) {
    columns.push_back(name);
  }
  return columns;
}

void ListResourceRows(const TestResult& result, RowSink sink) {
  for (const auto& [node, resources] : NodesByName(result)) {
    for (const ResourceSample& sample : resources->samples()) {
      sink(ResourceRow(node, sample));
    }
  }
}

}  // namespace

const ReportTable& ResourcesTable() {
  static const ReportTable* const table =
      new ReportTable{"resources", "a row per node and second",
                      ResourceColumns(), ListResourceRows};
  return *table;
}

}  // namespace distbench::report
