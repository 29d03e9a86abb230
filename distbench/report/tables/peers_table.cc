#include "absl/strings/str_cat.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/measurements/time_parts.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/running_moments.h"

namespace distbench {
namespace {

struct Latency {
  Latency(const LogHistogram& histogram, const RunningMoments& others,
          int64_t failed_count)
      : outcomes(others.count == 0 ? OutcomesView(histogram, failed_count)
                                   : OutcomesView(kNoValues)),
        all(histogram) {
    all.Merge(others);
  }

  // Without a histogram of all values there are no quantiles.
  static inline const LogHistogram kNoValues;
  OutcomesView outcomes;
  RunningMoments all;
};

constexpr TimePart kListedParts[] = {
    TimePart::kNetwork, TimePart::kServerQueue, TimePart::kServerHandler};

void AppendTimeParts(const RpcTotals& totals, Row& row) {
  for (const TimePart part : kListedParts) {
    const LogHistogram& times_ns = TimesOf(totals, part);
    row.push_back(MeanCell(times_ns));
    row.push_back(QuantileCell(OutcomesView(times_ns), 0.5));
    row.push_back(QuantileCell(OutcomesView(times_ns), 0.99));
    row.push_back(MaxCell(times_ns));
  }
}

std::vector<std::string> PeersColumns() {
  std::vector<std::string> columns = {
      "client", "server", "rpc", "succeeded", "failed", "warmup",
      "request_bytes", "response_bytes", "duration_s", "per_second",
      "service_mean_ns", "service_p50_ns", "service_p99_ns", "service_max_ns",
      "response_mean_ns", "response_p50_ns", "response_p99_ns",
      "response_max_ns"};
  for (const TimePart part : kListedParts) {
    for (const char* value : {"_mean_ns", "_p50_ns", "_p99_ns", "_max_ns"}) {
      columns.push_back(absl::StrCat(NameOf(part), value));
    }
  }
  return columns;
}

void ListPeerRows(const TestResult& result, RowSink sink) {
  ForEachRpcLog(result, [&](const RpcLogView& view) {
    RpcTotals totals;
    // Inconsistent statistics are left out, and a finding says so.
    if (!totals.Add(view.log.statistics()).ok()) return;
    const RpcCounts& counts = totals.counts;
    const bool is_open_loop = totals.response_time_ns.count() > 0 ||
                              totals.moments.response_time_ns.count > 0;
    const Latency service(totals.service_time_ns,
                          totals.moments.service_time_ns, counts.failed_count);
    const Latency response(totals.response_time_ns,
                           totals.moments.response_time_ns,
                           is_open_loop ? counts.failed_count : 0);
    Row row = {view.client, view.server, view.rpc_name, counts.succeeded_count,
               counts.failed_count, counts.warmup_count, counts.request_bytes,
               counts.response_bytes, SecondsCell(counts.duration_ns()),
               PerSecond(static_cast<double>(counts.succeeded_count),
                         counts.duration_ns()),
               MeanCell(service.all), QuantileCell(service.outcomes, 0.5),
               QuantileCell(service.outcomes, 0.99), MaxCell(service.all),
               MeanCell(response.all), QuantileCell(response.outcomes, 0.5),
               QuantileCell(response.outcomes, 0.99), MaxCell(response.all)};
    AppendTimeParts(totals, row);
    sink(row);
  });
}

}  // namespace

const ReportTable& PeersTable() {
  static const ReportTable* const table =
      new ReportTable{"peers", "a row per client, server and RPC",
                      PeersColumns(), ListPeerRows};
  return *table;
}

}  // namespace distbench
