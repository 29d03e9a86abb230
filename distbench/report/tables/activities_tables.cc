#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
namespace {

Cell MetricCell(const ActivityTotals& totals, const std::string& name) {
  const auto found = totals.metrics.find(name);
  if (found == totals.metrics.end()) return {};
  return found->second;
}

// As text, because not all readers support 64-bit numbers.
Cell ChecksumCell(const ActivityTotals& totals) {
  const auto found = totals.metrics.find("checksum");
  if (found == totals.metrics.end()) return {};
  return std::to_string(static_cast<uint64_t>(found->second));
}

void ListActivityRows(const TestResult& result, RowSink sink) {
  ForEachActivity(result,
                  [&](const std::string& instance, const std::string& activity,
                      const ActivityTotals& totals) {
                    Row row = {instance,
                               activity,
                               MetricCell(totals, "iteration_count"),
                               ChecksumCell(totals),
                               MetricCell(totals, "input_bytes"),
                               MetricCell(totals, "output_bytes")};
                    for (const stats::LogHistogram* times :
                         {&totals.duration_ns, &totals.queueing_ns}) {
                      row.push_back(MeanCell(*times));
                      row.push_back(QuantileCell(*times, 0.5));
                      row.push_back(QuantileCell(*times, 0.95));
                      row.push_back(QuantileCell(*times, 0.99));
                      row.push_back(MaxCell(*times));
                    }
                    row.push_back(MetricCell(totals, "operations"));
                    row.push_back(MetricCell(totals, "failed_operations"));
                    sink(row);
                  });
}

}  // namespace

const ReportTable& ActivitiesTable() {
  static const ReportTable* const table = new ReportTable{
      "activities",
      "a row per instance and activity",
      {"instance", "activity", "iterations", "checksum", "input_bytes",
       "output_bytes", "duration_mean_ns", "duration_p50_ns", "duration_p95_ns",
       "duration_p99_ns", "duration_max_ns", "queueing_mean_ns",
       "queueing_p50_ns", "queueing_p95_ns", "queueing_p99_ns",
       "queueing_max_ns", "operations", "failed_operations"},
      ListActivityRows};
  return *table;
}

namespace {

void AppendLatencies(const Histogram& proto, Row& row) {
  stats::LogHistogram times;
  // Valid, or absent, which adds nothing.
  results::AddHistogram(proto, times).IgnoreError();
  row.push_back(QuantileCell(times, 0.5));
  row.push_back(QuantileCell(times, 0.99));
  row.push_back(MaxCell(times));
}

void ListActivitySeriesRows(const TestResult& result, RowSink sink) {
  ForEachActivitySeries(result, [&](const std::string& instance,
                                    const std::string& activity,
                                    const ActivitySeries& series) {
    for (const ActivityInterval& interval : series.intervals()) {
      Row row = {
          instance,
          activity,
          interval.index() * series.interval_ns(),
          SecondsCell(series.interval_ns()),
          OptionalCell(interval.has_offered_count(), interval.offered_count()),
          interval.completed_count(),
          interval.input_bytes(),
          interval.output_bytes()};
      AppendLatencies(interval.read_ns(), row);
      AppendLatencies(interval.write_ns(), row);
      sink(row);
    }
  });
}

}  // namespace

const ReportTable& ActivitySeriesTable() {
  static const ReportTable* const table = new ReportTable{
      "activity_series",
      "a row per instance, activity and second",
      {"instance", "activity", "start_timestamp_ns", "duration_s", "offered",
       "completed", "input_bytes", "output_bytes", "read_p50_ns", "read_p99_ns",
       "read_max_ns", "write_p50_ns", "write_p99_ns", "write_max_ns"},
      ListActivitySeriesRows};
  return *table;
}

}  // namespace distbench::report
