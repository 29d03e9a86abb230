#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/row_writer.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/time_series.h"

namespace distbench::report {
namespace {

constexpr TimeFigure kFigures[] = {figures::kMean, figures::kP50, figures::kP95,
                                   figures::kP99, figures::kMax};
constexpr TimeFigure kSeriesFigures[] = {figures::kP50, figures::kP99,
                                         figures::kMax};

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

void WriteActivity(RowWriter& row, const std::string& instance,
                   const std::string& activity, const ActivityTotals& totals) {
  row.Add("instance", instance);
  row.Add("activity", activity);
  row.Add("iterations", MetricCell(totals, "iteration_count"));
  row.Add("checksum", ChecksumCell(totals));
  row.Add("input_bytes", MetricCell(totals, "input_bytes"));
  row.Add("output_bytes", MetricCell(totals, "output_bytes"));
  row.AddTimes("duration", totals.duration_ns, kFigures);
  row.AddTimes("queueing", totals.queueing_ns, kFigures);
  row.Add("operations", MetricCell(totals, "operations"));
  row.Add("failed_operations", MetricCell(totals, "failed_operations"));
}

void ListActivities(const TestResult& result, RowSink sink) {
  ForEachActivity(result,
                  [&](const std::string& instance, const std::string& activity,
                      const ActivityLog& log) {
                    ActivityTotals totals;
                    totals.Add(log);
                    sink(RowOf(WriteActivity, instance, activity, totals));
                  });
}

void WriteInterval(RowWriter& row, const std::string& instance,
                   const std::string& activity, int64_t interval_ns,
                   const ActivityInterval& interval) {
  row.Add("instance", instance);
  row.Add("activity", activity);
  row.Add("start_timestamp_ns", interval.index() * interval_ns);
  row.Add("duration_s", SecondsCell(interval_ns));
  row.Add("offered",
          OptionalCell(interval.has_offered_count(), interval.offered_count()));
  row.Add("completed", interval.completed_count());
  row.Add("input_bytes", interval.input_bytes());
  row.Add("output_bytes", interval.output_bytes());
  row.AddTimes("read", results::HistogramOf(interval.read_ns()),
               kSeriesFigures);
  row.AddTimes("write", results::HistogramOf(interval.write_ns()),
               kSeriesFigures);
}

void ListActivitySeries(const TestResult& result, RowSink sink) {
  ForEachActivity(
      result, [&](const std::string& instance, const std::string& activity,
                  const ActivityLog& log) {
        const ActivitySeries& series = log.series();
        // One that contradicts itself is left out.
        if (!results::ValidateActivitySeries(series).ok()) return;
        for (const ActivityInterval& interval : series.intervals()) {
          sink(RowOf(WriteInterval, instance, activity, series.interval_ns(),
                     interval));
        }
      });
}

}  // namespace

const ReportTable& ActivitiesTable() {
  static const ReportTable& table =
      MakeTable("activities", "a row per instance and activity", WriteActivity,
                ListActivities);
  return table;
}

const ReportTable& ActivitySeriesTable() {
  static const ReportTable& table =
      MakeTable("activity_series", "a row per instance, activity and second",
                WriteInterval, ListActivitySeries);
  return table;
}

}  // namespace distbench::report
