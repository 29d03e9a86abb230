#include <map>

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

namespace {

void ListCpuRows(const TestResult& result, RowSink sink) {
  for (const auto& [node, resources] : NodesByName(result)) {
    for (const ResourceSample& sample : resources->samples()) {
      for (const CpuUse& use : sample.cpus()) {
        sink({node, sample.end_timestamp_ns(),
              SecondsCell(sample.duration_ns()), int64_t{use.cpu()},
              use.user_ns(), use.system_ns(), use.irq_ns(), use.softirq_ns(),
              use.steal_ns(), use.idle_ns(), use.iowait_ns(), use.nice_ns()});
      }
    }
  }
}

}  // namespace

const ReportTable& CpusTable() {
  static const ReportTable* const table = new ReportTable{
      "cpus",
      "a row per node, second and CPU",
      {"node", "end_timestamp_ns", "duration_s", "cpu", "user_ns", "system_ns",
       "irq_ns", "softirq_ns", "steal_ns", "idle_ns", "iowait_ns", "nice_ns"},
      ListCpuRows};
  return *table;
}

namespace {

void ListGroupRows(const TestResult& result, RowSink sink) {
  for (const auto& [node, resources] : NodesByName(result)) {
    for (const ResourceSample& sample : resources->samples()) {
      const std::map<std::string, GroupUse> groups(sample.groups().begin(),
                                                   sample.groups().end());
      for (const auto& [instance, use] : groups) {
        sink({node, sample.end_timestamp_ns(),
              SecondsCell(sample.duration_ns()), instance,
              OptionalCell(use.has_cpu_ns(), use.cpu_ns()),
              OptionalCell(use.has_system_cpu_ns(), use.system_cpu_ns()),
              OptionalCell(use.has_throttled_ns(), use.throttled_ns()),
              OptionalCell(use.has_memory_bytes(), use.memory_bytes()),
              OptionalCell(use.has_swap_bytes(), use.swap_bytes()),
              OptionalCell(use.has_read_bytes(), use.read_bytes()),
              OptionalCell(use.has_written_bytes(), use.written_bytes()),
              OptionalCell(use.has_read_operations(), use.read_operations()),
              OptionalCell(use.has_write_operations(), use.write_operations()),
              OptionalCell(use.has_some_cpu_pressure_ns(),
                           use.some_cpu_pressure_ns()),
              OptionalCell(use.has_some_memory_pressure_ns(),
                           use.some_memory_pressure_ns()),
              OptionalCell(use.has_full_memory_pressure_ns(),
                           use.full_memory_pressure_ns()),
              OptionalCell(use.has_some_io_pressure_ns(),
                           use.some_io_pressure_ns()),
              OptionalCell(use.has_full_io_pressure_ns(),
                           use.full_io_pressure_ns())});
      }
    }
  }
}

}  // namespace

const ReportTable& GroupsTable() {
  static const ReportTable* const table = new ReportTable{
      "groups",
      "a row per node, second and control group",
      {"node", "end_timestamp_ns", "duration_s", "instance", "cpu_ns",
       "system_cpu_ns", "throttled_ns", "memory_bytes", "swap_bytes",
       "read_bytes", "written_bytes", "read_operations", "write_operations",
       "some_cpu_pressure_ns", "some_memory_pressure_ns",
       "full_memory_pressure_ns", "some_io_pressure_ns", "full_io_pressure_ns"},
      ListGroupRows};
  return *table;
}

namespace {

Row ConnectionRow(const std::string& node, const DataConnection& connection) {
  return {node,
          connection.instance(),
          connection.local_address(),
          connection.peer_address(),
          connection.congestion_control(),
          int64_t{connection.uses_ecn()},
          connection.sent_segments(),
          connection.retransmitted_segments(),
          connection.congestion_marked_segments(),
          OptionalCell(connection.has_min_rtt_ns(), connection.min_rtt_ns()),
          OptionalCell(connection.has_mean_rtt_ns(), connection.mean_rtt_ns()),
          OptionalCell(connection.has_max_rtt_ns(), connection.max_rtt_ns()),
          int64_t{connection.min_congestion_window()},
          int64_t{connection.max_congestion_window()},
          connection.max_delivery_rate()};
}

void ListConnectionRows(const TestResult& result, RowSink sink) {
  for (const auto& [node, resources] : NodesByName(result)) {
    for (const DataConnection& connection : resources->data_connections()) {
      sink(ConnectionRow(node, connection));
    }
  }
}

}  // namespace

const ReportTable& ConnectionsTable() {
  static const ReportTable* const table = new ReportTable{
      "connections",
      "a row per end of a TCP connection of the traffic",
      {"node", "instance", "local_address", "peer_address",
       "congestion_control", "uses_ecn", "sent_segments",
       "retransmitted_segments", "congestion_marked_segments", "min_rtt_ns",
       "mean_rtt_ns", "max_rtt_ns", "min_congestion_window",
       "max_congestion_window", "max_delivery_rate"},
      ListConnectionRows};
  return *table;
}

}  // namespace distbench::report
