#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
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
