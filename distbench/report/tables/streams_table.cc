#include "distbench/report/measurements/stream_times.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

void ListStreamRows(const TestResult& result, RowSink sink) {
  for (const int rpc_index : ListRpcs(result)) {
    const std::string rpc = results::RpcName(result, rpc_index);
    const std::optional<results::StreamTotals> totals = StreamsOf(result, rpc);
    if (!totals) continue;
    for (const auto& [name, times_ns] : StreamTimesOf(*totals)) {
      sink({rpc, std::string(name), static_cast<int64_t>(times_ns.count()),
            MeanCell(times_ns),
            QuantileCell(stats::OutcomesView(times_ns), 0.5),
            QuantileCell(stats::OutcomesView(times_ns), 0.9),
            QuantileCell(stats::OutcomesView(times_ns), 0.99),
            MaxCell(times_ns)});
    }
  }
}

}  // namespace

const ReportTable& StreamsTable() {
  static const ReportTable* const table =
      new ReportTable{"streams",
                      "a row per RPC that streams and time of its messages",
                      {"rpc", "part", "count", "mean_ns", "p50_ns", "p90_ns",
                       "p99_ns", "max_ns"},
                      ListStreamRows};
  return *table;
}

}  // namespace distbench::report
