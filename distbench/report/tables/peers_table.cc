#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/report/measurements/time_parts.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/running_moments.h"

namespace distbench::report {
namespace {

struct Latency {
  Latency(const stats::LogHistogram& histogram,
          const stats::RunningMoments& others, int64_t failed_count)
      : outcomes(others.count == 0
                     ? stats::OutcomesView(histogram, failed_count)
                     : stats::OutcomesView(kNoValues)),
        all(histogram) {
    all.Merge(others);
  }

  // Without a histogram of all values there are no quantiles.
  static inline const stats::LogHistogram kNoValues;
  stats::OutcomesView outcomes;
  stats::RunningMoments all;
};

constexpr results::TimePart kListedParts[] = {
    results::TimePart::kNetwork, results::TimePart::kServerQueue,
    results::TimePart::kServerHandler};

void AppendLatency(const Latency& latency, Row& row) {
  row.insert(row.end(),
             {MeanCell(latency.all), QuantileCell(latency.outcomes, 0.5),
              QuantileCell(latency.outcomes, 0.99), MaxCell(latency.all)});
}

void AppendTimeParts(const results::RpcTotals& totals, Row& row) {
  for (const results::TimePart part : kListedParts) {
    const stats::LogHistogram& times_ns = TimesOf(totals, part);
    row.push_back(MeanCell(times_ns));
    row.push_back(QuantileCell(stats::OutcomesView(times_ns), 0.5));
    row.push_back(QuantileCell(stats::OutcomesView(times_ns), 0.99));
    row.push_back(MaxCell(times_ns));
  }
}

void AppendLatencyColumns(absl::string_view name,
                          std::vector<std::string>& columns) {
  for (const char* value : {"_mean_ns", "_p50_ns", "_p99_ns", "_max_ns"}) {
    columns.push_back(absl::StrCat(name, value));
  }
}

std::vector<std::string> PeersColumns() {
  std::vector<std::string> columns = {"client", "server", "rpc"};
  for (std::string& column : CountColumns()) {
    columns.push_back(std::move(column));
  }
  for (const char* latency : {"service", "response"}) {
    AppendLatencyColumns(latency, columns);
  }
  for (const results::TimePart part : kListedParts) {
    AppendLatencyColumns(results::NameOf(part), columns);
  }
  return columns;
}

void ListPeerRows(const TestResult& result, RowSink sink) {
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    results::RpcTotals totals;
    // Inconsistent statistics are left out, and a finding says so.
    if (!totals.Add(view.log.statistics()).ok()) return;
    const results::RpcCounts& counts = totals.counts;
    const bool is_open_loop = totals.response_time_ns.count() > 0 ||
                              totals.moments.response_time_ns.count > 0;
    const Latency service(totals.service_time_ns,
                          totals.moments.service_time_ns, counts.failed_count);
    const Latency response(totals.response_time_ns,
                           totals.moments.response_time_ns,
                           is_open_loop ? counts.failed_count : 0);
    Row row = {view.client, view.server, view.rpc_name};
    AppendCounts(counts, row);
    AppendLatency(service, row);
    AppendLatency(response, row);
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

}  // namespace distbench::report
