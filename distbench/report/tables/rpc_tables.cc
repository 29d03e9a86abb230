#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "distbench/report/measurements/client_sums.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/row_writer.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {
namespace {

// Of an RPC over all its clients and servers, of one of its parts, and of one
// pair of instances.
constexpr TimeFigure kRpcFigures[] = {
    figures::kMin,   figures::kMean,   figures::kP50, figures::kP75,
    figures::kP90,   figures::kP95,    figures::kP99, figures::kP999,
    figures::kP9999, figures::kP99999, figures::kMax};
constexpr TimeFigure kPartFigures[] = {
    figures::kMean, figures::kP50, figures::kP90, figures::kP99, figures::kMax};
constexpr TimeFigure kPairFigures[] = {figures::kMean, figures::kP50,
                                       figures::kP99, figures::kMax};

void AddCounts(const results::RpcCounts& counts, RowWriter& row) {
  row.Add("succeeded", counts.succeeded_count);
  row.Add("failed", counts.failed_count);
  row.Add("warmup", counts.warmup_count);
  row.Add("request_bytes", counts.request_bytes);
  row.Add("response_bytes", counts.response_bytes);
  row.Add("duration_s", SecondsCell(counts.duration_ns()));
  row.Add("per_second", PerSecond(static_cast<double>(counts.succeeded_count),
                                  counts.duration_ns()));
}

void WriteRpc(RowWriter& row, const RpcMeasurements& rpc) {
  const results::RpcCounts& counts = rpc.totals.counts;
  const bool is_open_loop = rpc.offered.has_value();
  const OfferedLoad load = rpc.offered.value_or(OfferedLoad());
  row.Add("rpc", rpc.name);
  AddCounts(counts, row);
  row.Add("offered", OptionalCell(is_open_loop, load.offered_count()));
  row.Add("unsent", OptionalCell(is_open_loop, load.unsent_count()));
  row.Add("held_back", OptionalCell(is_open_loop, load.held_back_count()));
  row.Add("dropped_samples", counts.dropped_sample_count);
  row.AddTimes("service", rpc.service_time, kRpcFigures);
  row.AddTimes("response", rpc.response_time, kRpcFigures);
  row.AddTimes("lateness", rpc.totals.lateness_ns, kRpcFigures);
}

constexpr int64_t kAllIntervals = std::numeric_limits<int64_t>::max();

void ListRpcRows(const TestResult& result, RowSink sink) {
  ForEachRpc(result, /*max_intervals=*/1,
             [&](const RpcMeasurements& rpc) { sink(RowOf(WriteRpc, rpc)); });
}

Cell BoundCell(const std::optional<int64_t>& bound) {
  if (!bound) return {};
  return OutcomeCell(*bound);
}

void WritePercentile(RowWriter& row, const std::string& rpc,
                     const std::string& latency, const Percentile& percentile) {
  row.Add("rpc", rpc);
  row.Add("latency", latency);
  row.Add("percentile", percentile.percent);
  row.Add("value_ns", OutcomeCell(percentile.value_ns));
  row.Add("lower_ns", BoundCell(percentile.interval.lower));
  row.Add("upper_ns", BoundCell(percentile.interval.upper));
  row.Add("method", MethodName(percentile.interval.method));
}

void ListPercentileRows(const TestResult& result, RowSink sink) {
  ForEachRpc(result, kAllIntervals, [&](const RpcMeasurements& rpc) {
    const auto list = [&](const std::string& latency,
                          const stats::Outcomes& outcomes,
                          const std::vector<stats::Outcomes>& blocks) {
      for (const Percentile& each : EstimatePercentiles(outcomes, blocks)) {
        sink(RowOf(WritePercentile, rpc.name, latency, each));
      }
    };
    list("service", rpc.service_time, ServiceTimeBlocks(rpc.series));
    list("response", rpc.response_time, ResponseTimeBlocks(rpc.series));
    list("lateness", {.latency_ns = rpc.totals.lateness_ns}, {});
  });
}

// A part of the time of an RPC, or a time of its messages.
void WritePart(RowWriter& row, const std::string& rpc, const std::string& part,
               const stats::LogHistogram& times_ns) {
  row.Add("rpc", rpc);
  row.Add("part", part);
  row.Add("count", static_cast<int64_t>(times_ns.count()));
  row.AddTimes("", times_ns, kPartFigures);
}

void ListParts(const std::string& rpc, const std::vector<NamedTimes>& parts,
               RowSink sink) {
  for (const NamedTimes& part : parts) {
    sink(RowOf(WritePart, rpc, std::string(part.name), part.times_ns));
  }
}

void ListTimePartRows(const TestResult& result, RowSink sink) {
  const TestTotals totals = AddUp(result);
  for (const int rpc_index : ListRpcs(result)) {
    const std::string rpc = results::RpcName(result, rpc_index);
    const auto found = totals.rpcs.find(rpc);
    if (found == totals.rpcs.end()) continue;
    ListParts(rpc, TimePartsOf(found->second), sink);
  }
}

void ListStreamRows(const TestResult& result, RowSink sink) {
  for (const int rpc_index : ListRpcs(result)) {
    const std::string rpc = results::RpcName(result, rpc_index);
    const std::optional<StreamStatistics> streams = StreamsOf(result, rpc);
    if (streams) ListParts(rpc, StreamTimesOf(*streams), sink);
  }
}

void WritePeer(RowWriter& row, const std::string& client,
               const std::string& server, const std::string& rpc,
               const results::RpcTotals& totals) {
  const results::RpcCounts& counts = totals.counts;
  const bool is_open_loop = totals.response_time_ns.count() > 0 ||
                            totals.moments.response_time_ns.count > 0;
  const uint64_t failed_count = counts.failed_count;
  row.Add("client", client);
  row.Add("server", server);
  row.Add("rpc", rpc);
  AddCounts(counts, row);
  row.AddTimes("service", {totals.service_time_ns, failed_count}, kPairFigures,
               totals.moments.service_time_ns);
  row.AddTimes("response",
               {totals.response_time_ns, is_open_loop ? failed_count : 0},
               kPairFigures, totals.moments.response_time_ns);
  for (const results::TimePart part :
       {results::TimePart::kNetwork, results::TimePart::kServerQueue,
        results::TimePart::kServerHandler}) {
    row.AddTimes(results::NameOf(part), TimesOf(totals, part), kPairFigures);
  }
}

void ListPeerRows(const TestResult& result, RowSink sink) {
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    results::RpcTotals totals;
    // Inconsistent statistics are left out, and a finding says so.
    if (!totals.Add(view.log.statistics()).ok()) return;
    sink(RowOf(WritePeer, view.client, view.server, view.rpc_name, totals));
  });
}

// The error is that of RPCs that failed. With a multi-server channel, any
// instance may have answered.
void WriteSample(RowWriter& row, const std::string& client,
                 const std::string& server, const std::string& rpc,
                 const RpcSample& sample, const Cell& error) {
  row.Add("client", client);
  row.Add("server", server);
  row.Add("rpc", rpc);
  row.Add("start_timestamp_ns", sample.start_timestamp_ns());
  row.Add("service_time_ns", sample.latency_ns());
  row.Add("lateness_ns",
          OptionalCell(sample.has_lateness_ns(), sample.lateness_ns()));
  row.Add("request_bytes", sample.request_size());
  row.Add("response_bytes", sample.response_size());
  row.Add("warmup", int64_t{sample.warmup()});
  row.Add("server_instance",
          OptionalCell(sample.has_server_instance(), sample.server_instance()));
  row.Add("error", error);
  row.Add("server_queue_ns",
          OptionalCell(sample.has_server_queue_ns(), sample.server_queue_ns()));
  row.Add("server_handler_ns", OptionalCell(sample.has_server_handler_ns(),
                                            sample.server_handler_ns()));
}

void ListSampleRows(const TestResult& result, RowSink sink) {
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    const auto list = [&](const RpcSample& sample, const Cell& error) {
      sink(RowOf(WriteSample, view.client, view.server, view.rpc_name, sample,
                 error));
    };
    for (const RpcSample& sample : view.log.successful_rpc_samples()) {
      list(sample, {});
    }
    for (const RpcSample& sample : view.log.failed_rpc_samples()) {
      list(sample, results::ErrorMessage(view.errors, sample.error_index()));
    }
  });
}

}  // namespace

const ReportTable& RpcsTable() {
  static const ReportTable& table =
      MakeTable("rpcs", "a row per RPC", WriteRpc, ListRpcRows);
  return table;
}

const ReportTable& PercentilesTable() {
  static const ReportTable& table = MakeTable(
      "percentiles", "a row per RPC and percentile, with its interval",
      WritePercentile, ListPercentileRows);
  return table;
}

const ReportTable& TimePartsTable() {
  static const ReportTable& table =
      MakeTable("time_parts", "a row per RPC and part of its time", WritePart,
                ListTimePartRows);
  return table;
}

const ReportTable& StreamsTable() {
  static const ReportTable& table = MakeTable(
      "streams", "a row per RPC that streams and time of its messages",
      WritePart, ListStreamRows);
  return table;
}

const ReportTable& PeersTable() {
  static const ReportTable& table = MakeTable(
      "peers", "a row per client, server and RPC", WritePeer, ListPeerRows);
  return table;
}

const ReportTable& SamplesTable() {
  static const ReportTable& table =
      MakeTable("samples", "a row per RPC of which a sample was kept",
                WriteSample, ListSampleRows);
  return table;
}

}  // namespace distbench::report
