#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/cells.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"

namespace distbench {
namespace {

void ListPeerRows(const TestResult& result, RowSink sink) {
  ForEachRpcLog(result, [&](const RpcLogView& view) {
    RpcTotals totals;
    // What contradicts itself is left out, and a finding says so.
    if (!totals.Add(view.log.statistics()).ok()) return;
    const RpcCounts& counts = totals.counts;
    const Outcomes service = ServiceTimeOf(totals);
    const Outcomes response = {
        totals.response_time_ns,
        totals.response_time_ns.count() > 0 ? service.failed_count : 0};
    sink({view.client, view.server, view.rpc_name, counts.succeeded_count,
          counts.failed_count, counts.warmup_count, counts.request_bytes,
          counts.response_bytes, SecondsCell(counts.duration_ns()),
          PerSecond(static_cast<double>(counts.succeeded_count),
                    counts.duration_ns()),
          MeanCell(totals.service_time_ns),
          QuantileCell(service, 0.5), QuantileCell(service, 0.99),
          MaxCell(totals.service_time_ns), MeanCell(totals.response_time_ns),
          QuantileCell(response, 0.5), QuantileCell(response, 0.99),
          MaxCell(totals.response_time_ns)});
  });
}

}  // namespace

const ReportTable& PeersTable() {
  static const ReportTable* const table = new ReportTable{
      "peers",
      "a row per client, server and RPC",
      {"client", "server", "rpc", "succeeded", "failed", "warmup",
       "request_bytes", "response_bytes", "duration_s", "per_second",
       "service_mean_ns", "service_p50_ns", "service_p99_ns", "service_max_ns",
       "response_mean_ns", "response_p50_ns", "response_p99_ns",
       "response_max_ns"},
      ListPeerRows};
  return *table;
}

}  // namespace distbench
