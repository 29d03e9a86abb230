#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/measurements/time_parts.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

void ListTimePartRows(const TestResult& result, RowSink sink) {
  const TestTotals totals = AddUp(result);
  for (const int rpc_index : ListRpcs(result)) {
    const std::string rpc = results::RpcName(result, rpc_index);
    const auto found = totals.rpcs.find(rpc);
    if (found == totals.rpcs.end()) continue;
    for (const NamedTimes& part : TimePartsOf(found->second)) {
      const stats::LogHistogram& times_ns = part.times_ns;
      sink({rpc, std::string(part.name), static_cast<int64_t>(times_ns.count()),
            MeanCell(times_ns),
            QuantileCell(stats::OutcomesView(times_ns), 0.5),
            QuantileCell(stats::OutcomesView(times_ns), 0.9),
            QuantileCell(stats::OutcomesView(times_ns), 0.99),
            MaxCell(times_ns)});
    }
  }
}

}  // namespace

const ReportTable& TimePartsTable() {
  static const ReportTable* const table =
      new ReportTable{"time_parts",
                      "a row per RPC and part of its time",
                      {"rpc", "part", "count", "mean_ns", "p50_ns", "p90_ns",
                       "p99_ns", "max_ns"},
                      ListTimePartRows};
  return *table;
}

}  // namespace distbench::report
