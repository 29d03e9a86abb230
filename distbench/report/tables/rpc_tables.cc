#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {
namespace {

constexpr char kLatencies[][9] = {"service", "response", "lateness"};

std::vector<std::string> RpcsColumns() {
  std::vector<std::string> columns = CountColumns();
  columns.insert(columns.begin(), "rpc");
  columns.insert(columns.end(),
                 {"offered", "unsent", "held_back", "dropped_samples"});
  for (const char* latency : kLatencies) {
    columns.push_back(absl::StrCat(latency, "_min_ns"));
    columns.push_back(absl::StrCat(latency, "_mean_ns"));
    for (const double percent : kReportPercents) {
      columns.push_back(absl::StrCat(latency, "_p", percent, "_ns"));
    }
    columns.push_back(absl::StrCat(latency, "_max_ns"));
  }
  return columns;
}

void AppendLatency(const stats::Outcomes& outcomes, Row& row) {
  row.push_back(MinCell(outcomes.latency_ns));
  row.push_back(MeanCell(outcomes.latency_ns));
  for (const double percent : kReportPercents) {
    row.push_back(QuantileCell(outcomes, percent / 100));
  }
  row.push_back(MaxCell(outcomes.latency_ns));
}

Row RpcRow(const RpcMeasurements& rpc) {
  const results::RpcCounts& counts = rpc.totals.counts;
  Row row = {rpc.name};
  AppendCounts(counts, row);
  if (rpc.offered) {
    row.insert(row.end(),
               {rpc.offered->offered_count(), rpc.offered->unsent_count(),
                rpc.offered->held_back_count()});
  } else {
    row.resize(row.size() + 3);
  }
  row.push_back(counts.dropped_sample_count);
  AppendLatency(rpc.service_time, row);
  AppendLatency(rpc.response_time, row);
  AppendLatency({.latency_ns = rpc.totals.lateness_ns}, row);
  return row;
}

void ForEachRpc(const TestResult& result,
                absl::FunctionRef<void(const RpcMeasurements&)> visit) {
  const TestTotals totals = AddUp(result);
  for (const int rpc_index : ListRpcs(result)) {
    visit(MeasurementsOf(result, totals, rpc_index,
                         std::numeric_limits<int64_t>::max()));
  }
}

void ListRpcRows(const TestResult& result, RowSink sink) {
  ForEachRpc(result, [&](const RpcMeasurements& rpc) { sink(RpcRow(rpc)); });
}

Cell BoundCell(const std::optional<int64_t>& bound) {
  if (!bound) return {};
  return OutcomeCell(*bound);
}

void ListPercentiles(const std::string& rpc, const std::string& latency,
                     const stats::Outcomes& outcomes,
                     const std::vector<stats::Outcomes>& blocks, RowSink sink) {
  for (const Percentile& percentile : EstimatePercentiles(outcomes, blocks)) {
    sink({rpc, latency, percentile.percent, OutcomeCell(percentile.value_ns),
          BoundCell(percentile.interval.lower),
          BoundCell(percentile.interval.upper),
          MethodName(percentile.interval.method)});
  }
}

void ListPercentileRows(const TestResult& result, RowSink sink) {
  ForEachRpc(result, [&](const RpcMeasurements& rpc) {
    ListPercentiles(rpc.name, "service", rpc.service_time,
                    ServiceTimeBlocks(rpc.series), sink);
    ListPercentiles(rpc.name, "response", rpc.response_time,
                    ResponseTimeBlocks(rpc.series), sink);
    ListPercentiles(rpc.name, "lateness",
                    {.latency_ns = rpc.totals.lateness_ns}, {}, sink);
  });
}

}  // namespace

const ReportTable& RpcsTable() {
  static const ReportTable* const table =
      new ReportTable{"rpcs", "a row per RPC", RpcsColumns(), ListRpcRows};
  return *table;
}

const ReportTable& PercentilesTable() {
  static const ReportTable* const table =
      new ReportTable{"percentiles",
                      "a row per RPC and percentile, with its interval",
                      {"rpc", "latency", "percentile", "value_ns", "lower_ns",
                       "upper_ns", "method"},
                      ListPercentileRows};
  return *table;
}

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
