#include "distbench/report/tables/table.h"

namespace distbench::report {
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
