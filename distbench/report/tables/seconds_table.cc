#include "distbench/report/tables/seconds_table.h"

#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/cells.h"
#include "distbench/results/walk.h"

namespace distbench {
namespace {

void ListSecondRows(const TestResult& result, RowSink sink) {
  for (const int rpc_index : ListRpcs(result)) {
    ListSeriesRows(RpcName(result, rpc_index), CollectSeries(result, rpc_index),
                   sink);
  }
}

}  // namespace

void ListSeriesRows(const std::string& rpc, const RpcSeries& series,
                    RowSink sink) {
  for (const auto& [index, interval] : series.intervals) {
    const uint64_t failed_count = interval.failed_count;
    const OutcomesView service(interval.service_time_ns, failed_count);
    const OutcomesView response(
        interval.response_time_ns,
        interval.response_time_ns.count() > 0 ? failed_count : 0);
    sink({rpc, index * series.interval_ns, SecondsCell(series.interval_ns),
          interval.offered_count, interval.sent_count, interval.succeeded_count,
          interval.failed_count, interval.warmup_count, interval.request_bytes,
          interval.response_bytes, QuantileCell(service, 0.5),
          QuantileCell(service, 0.99), MaxCell(interval.service_time_ns),
          QuantileCell(response, 0.5), QuantileCell(response, 0.99),
          MaxCell(interval.response_time_ns)});
  }
}

const ReportTable& SecondsTable() {
  static const ReportTable* const table = new ReportTable{
      "seconds",
      "a row per RPC and second (or longer), warm-up included",
      {"rpc", "start_timestamp_ns", "duration_s", "offered", "sent",
       "succeeded", "failed", "warmup", "request_bytes", "response_bytes",
       "service_p50_ns", "service_p99_ns", "service_max_ns", "response_p50_ns",
       "response_p99_ns", "response_max_ns"},
      ListSecondRows};
  return *table;
}

}  // namespace distbench
