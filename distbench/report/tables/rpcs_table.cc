#include <limits>

#include "absl/strings/str_cat.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/table.h"

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

}  // namespace distbench::report
