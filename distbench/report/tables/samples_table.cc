#include "absl/strings/str_cat.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

// With a multi-server channel, any instance may have answered.
Cell AnsweringInstance(const RpcSample& sample) {
  if (!sample.has_server_instance()) return {};
  return int64_t{sample.server_instance()};
}

Cell TimePartCell(bool is_reported, int64_t time_ns) {
  return is_reported ? Cell(time_ns) : Cell();
}

void ListSample(const results::RpcLogView& view, const RpcSample& sample,
                bool failed, RowSink sink) {
  sink({view.client, view.server, view.rpc_name, sample.start_timestamp_ns(),
        sample.latency_ns(),
        sample.has_lateness_ns() ? Cell(sample.lateness_ns()) : Cell(),
        sample.request_size(), sample.response_size(), int64_t{sample.warmup()},
        AnsweringInstance(sample),
        failed ? Cell(results::ErrorMessage(view.errors, sample.error_index()))
               : Cell(),
        TimePartCell(sample.has_server_queue_ns(), sample.server_queue_ns()),
        TimePartCell(sample.has_server_handler_ns(),
                     sample.server_handler_ns())});
}

void ListSampleRows(const TestResult& result, RowSink sink) {
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    for (const RpcSample& sample : view.log.successful_rpc_samples()) {
      ListSample(view, sample, /*failed=*/false, sink);
    }
    for (const RpcSample& sample : view.log.failed_rpc_samples()) {
      ListSample(view, sample, /*failed=*/true, sink);
    }
  });
}

}  // namespace

const ReportTable& SamplesTable() {
  static const ReportTable* const table = new ReportTable{
      "samples",
      "a row per RPC of which a sample was kept",
      {"client", "server", "rpc", "start_timestamp_ns", "service_time_ns",
       "lateness_ns", "request_bytes", "response_bytes", "warmup",
       "server_instance", "error", "server_queue_ns", "server_handler_ns"},
      ListSampleRows};
  return *table;
}

}  // namespace distbench::report
