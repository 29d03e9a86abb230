#include "distbench/report/tables/table.h"

#include <cmath>

#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::report {
namespace {

void ListSecondRows(const TestResult& result, RowSink sink) {
  for (const int rpc_index : ListRpcs(result)) {
    ListSeriesRows(results::RpcName(result, rpc_index),
                   CollectSeries(result, rpc_index), sink);
  }
}

}  // namespace

std::vector<const ReportTable*> AllTables() {
  return {&RpcsTable(),        &PercentilesTable(), &TimePartsTable(),
          &StreamsTable(),     &PoliciesTable(),    &GoodputTable(),
          &FaultsTable(),      &RecoveriesTable(),  &PeersTable(),
          &SecondsTable(),     &ActivitiesTable(),  &ActivitySeriesTable(),
          &ResourcesTable(),   &CpusTable(),        &GroupsTable(),
          &ConnectionsTable(), &SamplesTable()};
}

Cell QuantileCell(const stats::OutcomesView& outcomes, double quantile) {
  if (!stats::SupportsQuantile(outcomes.count(), quantile)) return {};
  return OutcomeCell(outcomes.ValueAtQuantile(quantile));
}

Cell OutcomeCell(int64_t value_ns) {
  if (value_ns == stats::Outcomes::kFailed) return "failed";
  return value_ns;
}

Cell MinCell(const stats::LogHistogram& histogram) {
  if (histogram.count() == 0) return {};
  return histogram.min();
}

Cell MeanCell(const stats::LogHistogram& histogram) {
  if (histogram.count() == 0) return {};
  return histogram.mean();
}

Cell MaxCell(const stats::LogHistogram& histogram) {
  if (histogram.count() == 0) return {};
  return histogram.max();
}

Cell MeanCell(const stats::RunningMoments& moments) {
  if (moments.count == 0) return {};
  return moments.sum / static_cast<double>(moments.count);
}

Cell MaxCell(const stats::RunningMoments& moments) {
  if (moments.count == 0) return {};
  return moments.max;
}

Cell OptionalCell(bool is_present, int64_t value) {
  return is_present ? Cell(value) : Cell();
}

Cell NumberCell(const std::optional<double>& number) {
  if (!number) return {};
  return std::isinf(*number) ? Cell("failed") : Cell(*number);
}

std::map<std::string, const NodeResources*> NodesByName(
    const TestResult& result) {
  std::map<std::string, const NodeResources*> nodes;
  for (const auto& [name, node] :
       result.resource_usage_logs().node_resources()) {
    nodes[name] = &node;
  }
  return nodes;
}

Cell SecondsCell(int64_t duration_ns) {
  return static_cast<double>(duration_ns) / 1e9;
}

std::vector<std::string> CountColumns() {
  return {"succeeded",      "failed",     "warmup",    "request_bytes",
          "response_bytes", "duration_s", "per_second"};
}

void AppendCounts(const results::RpcCounts& counts, Row& row) {
  row.insert(row.end(),
             {counts.succeeded_count, counts.failed_count, counts.warmup_count,
              counts.request_bytes, counts.response_bytes,
              SecondsCell(counts.duration_ns()),
              PerSecond(static_cast<double>(counts.succeeded_count),
                        counts.duration_ns())});
}

void ListSeriesRows(const std::string& rpc, const RpcSeries& series,
                    RowSink sink) {
  for (const auto& [index, interval] : series.intervals) {
    const uint64_t failed_count = interval.failed_count;
    const stats::OutcomesView service(interval.service_time_ns, failed_count);
    const stats::OutcomesView response(
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

}  // namespace distbench::report
