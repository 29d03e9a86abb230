#include "distbench/report/tables/table.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/results/walk.h"
#include "distbench/stats/quantile_interval.h"
#include "glog/logging.h"

namespace distbench::report {
namespace {

constexpr TimeFigure kFigures[] = {figures::kP50, figures::kP99, figures::kMax};

void WriteInterval(RowWriter& row, const std::string& rpc, int64_t start_ns,
                   int64_t width_ns, const IntervalTotals& interval) {
  const uint64_t failed_count = interval.failed;
  const bool is_open_loop = interval.response_time_ns.count() > 0;
  row.Add("rpc", rpc);
  row.Add("start_timestamp_ns", start_ns);
  row.Add("duration_s", SecondsCell(width_ns));
  row.Add("offered", interval.offered);
  row.Add("sent", interval.sent);
  row.Add("succeeded", interval.succeeded);
  row.Add("failed", interval.failed);
  row.Add("warmup", interval.warmup);
  row.Add("request_bytes", interval.request_bytes);
  row.Add("response_bytes", interval.response_bytes);
  row.AddTimes("service", {interval.service_time_ns, failed_count}, kFigures);
  row.AddTimes("response",
               {interval.response_time_ns, is_open_loop ? failed_count : 0},
               kFigures);
}

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

Cell OptionalCell(bool is_present, int64_t value) {
  return is_present ? Cell(value) : Cell();
}

Cell NumberCell(const std::optional<double>& number) {
  if (!number) return {};
  return std::isinf(*number) ? Cell("failed") : Cell(*number);
}

Cell SecondsCell(int64_t duration_ns) {
  return static_cast<double>(duration_ns) / 1e9;
}

void ListSeriesRows(const std::string& rpc, const RpcSeries& series,
                    RowSink sink) {
  for (const auto& [index, interval] : series.intervals) {
    sink(RowOf(WriteInterval, rpc, index * series.interval_ns,
               series.interval_ns, interval));
  }
}

const ReportTable& SecondsTable() {
  return TableOf<WriteInterval, ListSecondRows>(
      "seconds", "a row per RPC and second (or longer), warm-up included");
}

// ---- Writing rows -----------------------------------------------------------

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool IsPercentile(const TimeFigure& figure) {
  return figure.percent > 0 && figure.percent < 100;
}

Cell MomentCell(const TimeFigure& figure,
                const stats::RunningMoments& moments) {
  if (moments.count == 0) return {};
  if (figure.is_mean()) return moments.sum / static_cast<double>(moments.count);
  return figure.percent == 0 ? moments.min : moments.max;
}

Cell FieldCell(const Message& message, const FieldDescriptor& field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return int64_t{reflection.GetInt32(message, &field)};
    case FieldDescriptor::CPPTYPE_INT64:
      return int64_t{reflection.GetInt64(message, &field)};
    case FieldDescriptor::CPPTYPE_BOOL:
      return int64_t{reflection.GetBool(message, &field)};
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(message, &field);
    default:
      break;
  }
  LOG(FATAL) << field.full_name() << " has no cell";
  return {};
}

}  // namespace

void RowWriter::Add(absl::string_view column, Cell cell) {
  if (columns_ != nullptr) {
    columns_->emplace_back(column);
  } else {
    row_->push_back(std::move(cell));
  }
}

void RowWriter::AddTimes(absl::string_view times,
                         const stats::OutcomesView& outcomes, TimeFigures shown,
                         const stats::RunningMoments& others) {
  if (columns_ != nullptr) {
    for (const TimeFigure& figure : shown) {
      columns_->push_back(
          absl::StrCat(times, times.empty() ? "" : "_", figure.name, "_ns"));
    }
    return;
  }
  stats::RunningMoments moments(outcomes.latency_ns());
  moments.Merge(others);
  for (const TimeFigure& figure : shown) {
    if (!IsPercentile(figure)) {
      row_->push_back(MomentCell(figure, moments));
    } else if (others.count == 0) {
      row_->push_back(QuantileCell(outcomes, figure.quantile()));
    } else {
      row_->push_back({});
    }
  }
}

void RowWriter::AddFields(const Message& message, WhenAbsent absent, int first,
                          int last) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.number() < first || field.number() > last) continue;
    const bool is_empty = absent == WhenAbsent::kEmpty &&
                          !message.GetReflection()->HasField(message, &field);
    Add(field.name(), is_empty ? Cell() : FieldCell(message, field));
  }
}

}  // namespace distbench::report
