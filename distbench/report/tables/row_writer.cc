#include "distbench/report/tables/row_writer.h"

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace distbench::report {
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
