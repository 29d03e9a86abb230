#include "distbench/search/search_table.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "distbench/report/rpc_measurements.h"
#include "distbench/report/test_totals.h"
#include "distbench/stats/log_histogram.h"

namespace distbench {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerSecond = 1e9;
constexpr double kBytesPerMb = 1e6;

std::string Milliseconds(double ns) {
  return absl::StrFormat("%.3f", ns / kNsPerMs);
}

// Minimum, mean and percentiles; empty cells if nothing was measured.
void AppendLatencies(const LogHistogram& latency,
                     std::vector<std::string>& cells) {
  constexpr double kQuantiles[] = {0.5, 0.9, 0.95, 0.99, 0.999};
  if (latency.count() == 0) {
    cells.resize(cells.size() + 2 + std::size(kQuantiles));
    return;
  }
  cells.push_back(Milliseconds(static_cast<double>(latency.min())));
  cells.push_back(Milliseconds(latency.mean()));
  for (const double quantile : kQuantiles) {
    cells.push_back(
        Milliseconds(static_cast<double>(latency.ValueAtQuantile(quantile))));
  }
}

std::string UtcTime(int64_t unix_ns) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixNanos(unix_ns),
                          absl::UTCTimeZone());
}

}  // namespace

std::string SearchTableHeader() {
  return "duration_secs,total_queries,requested_qps,achieved_qps,"
         "total_bytes_rx,total_bytes_tx,rx_MBps,tx_MBps,min_ms,avg_ms,50p_ms,"
         "90p_ms,95p_ms,99p_ms,99.9p_ms,"
         "probe,phase,outcome,failed,start_utc,end_utc,measured";
}

absl::StatusOr<std::string> SearchTableRow(int number,
                                           const Objective& objective,
                                           const MeasuredProbe& probe,
                                           const TestResult& result) {
  const absl::StatusOr<int> rpc_index = FindRpc(objective, result);
  if (!rpc_index.ok()) return rpc_index.status();
  const TestTotals totals = AddUp(result);
  const RpcMeasurements rpc = MeasurementsOf(result, totals, *rpc_index, 1);
  const RpcCounts& counts = rpc.totals.counts;
  const int64_t duration_ns = counts.duration_ns();
  std::vector<std::string> cells = {
      absl::StrFormat("%.3f", duration_ns / kNsPerSecond),
      absl::StrCat(counts.succeeded_count),
      absl::StrFormat("%.2f", probe.probe.request.load),
      absl::StrFormat("%.2f", PerSecond(counts.succeeded_count, duration_ns)),
      absl::StrCat(counts.response_bytes),
      absl::StrCat(counts.request_bytes),
      absl::StrFormat(
          "%.2f", PerSecond(counts.response_bytes, duration_ns) / kBytesPerMb),
      absl::StrFormat(
          "%.2f", PerSecond(counts.request_bytes, duration_ns) / kBytesPerMb)};
  AppendLatencies(rpc.response_time_ns.count() > 0 ? rpc.response_time_ns
                                                   : rpc.totals.service_time_ns,
                  cells);
  cells.insert(
      cells.end(),
      {absl::StrCat(number), std::string(ToString(probe.probe.request.phase)),
       probe.outcome, absl::StrCat(counts.failed_count),
       UtcTime(result.run_info().start_timestamp_ns()),
       UtcTime(result.run_info().end_timestamp_ns()), probe.measured});
  return absl::StrJoin(cells, ",");
}

}  // namespace distbench
