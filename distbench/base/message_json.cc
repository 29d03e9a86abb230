// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/message_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "proto/json_options.pb.h"

namespace distbench::base {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

template <typename Integer>
Json Int64Json(Integer value, JsonForm form) {
  return form == JsonForm::kConfig ? Json(absl::StrCat(value)) : Json(value);
}

Json DoubleJson(double value, JsonForm form) {
  if (std::isfinite(value)) return value;
  if (form == JsonForm::kReport) return nullptr;
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

// The double that has the fewest digits among those that are this float, so
// that 0.1f is 0.1.
double Shortest(float value) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value);
  double shortest = value;
  return absl::SimpleAtod(absl::string_view(digits, end.ptr - digits),
                          &shortest)
             ? shortest
             : value;
}

// The value of a singular field, or the item `index` of a repeated one.
Json ValueJson(const Message& message, const FieldDescriptor& field, int index,
               JsonForm form) {
  const Reflection& get = *message.GetReflection();
  const bool repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return repeated ? get.GetRepeatedInt32(message, &field, index)
                      : get.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return repeated ? get.GetRepeatedUInt32(message, &field, index)
                      : get.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return Int64Json(repeated ? get.GetRepeatedInt64(message, &field, index)
                                : get.GetInt64(message, &field),
                       form);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Int64Json(repeated ? get.GetRepeatedUInt64(message, &field, index)
                                : get.GetUInt64(message, &field),
                       form);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return DoubleJson(repeated ? get.GetRepeatedDouble(message, &field, index)
                                 : get.GetDouble(message, &field),
                        form);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return DoubleJson(
          Shortest(repeated ? get.GetRepeatedFloat(message, &field, index)
                            : get.GetFloat(message, &field)),
          form);
    case FieldDescriptor::CPPTYPE_BOOL:
      return repeated ? get.GetRepeatedBool(message, &field, index)
                      : get.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const std::string& name =
          (repeated ? get.GetRepeatedEnum(message, &field, index)
                    : get.GetEnum(message, &field))
              ->name();
      return form == JsonForm::kReport ? absl::AsciiStrToLower(name) : name;
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string scratch;
      const std::string& text =
          repeated
              ? get.GetRepeatedStringReference(message, &field, index, &scratch)
              : get.GetStringReference(message, &field, &scratch);
      return field.type() == FieldDescriptor::TYPE_BYTES
                 ? absl::Base64Escape(text)
                 : ValidUtf8(text);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageJson(repeated
                             ? get.GetRepeatedMessage(message, &field, index)
                             : get.GetMessage(message, &field),
                         form);
  }
  return nullptr;
}

// Keys that are numbers are in the order of the numbers.
Json MapJson(const Message& message, const FieldDescriptor& field,
             JsonForm form) {
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  const Reflection& reflection = *message.GetReflection();
  std::map<Json, Json> sorted;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    sorted[ValueJson(entry, key, 0, JsonForm::kConfigOfNumbers)] =
        ValueJson(entry, value, 0, form);
  }
  Json json = Json::object();
  for (auto& [name, content] : sorted) {
    json[name.is_string() ? name.get<std::string>() : DumpJson(name)] =
        std::move(content);
  }
  return json;
}

Json FieldJson(const Message& message, const FieldDescriptor& field,
               JsonForm form) {
  const Reflection& reflection = *message.GetReflection();
  if (field.is_map()) return MapJson(message, field, form);
  if (field.is_repeated()) {
    Json json = Json::array();
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      json.push_back(ValueJson(message, field, i, form));
    }
    return json;
  }
  if (field.has_presence() && !reflection.HasField(message, &field)) {
    return nullptr;
  }
  return ValueJson(message, field, 0, form);
}

// ---- Configs ----------------------------------------------------------------

Json ConfigJson(const Message& message, JsonForm form) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  // Readers look for names first.
  std::stable_partition(
      fields.begin(), fields.end(),
      [](const FieldDescriptor* field) { return field->name() == "name"; });
  Json json = Json::object();
  for (const FieldDescriptor* field : fields) {
    json[field->name()] = FieldJson(message, *field, form);
  }
  return json;
}

// ---- Reports ----------------------------------------------------------------

const std::string& NameOf(const FieldDescriptor& field) {
  return field.has_json_name() ? field.json_name() : field.name();
}

// Whether the fields of a message are as if they were of the one around it.
bool HasPrefix(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         field.options().HasExtension(prefix);
}

Json RowJson(const Message& row) {
  Json json = Json::array();
  ForEachCell(row, [&](Json cell) { json.push_back(std::move(cell)); });
  return json;
}

// The columns, the rows as lists of cells, and what else the message has.
Json TableJson(const Message& table) {
  const Descriptor& type = *table.GetDescriptor();
  const FieldDescriptor* rows = type.FindFieldByName("rows");
  CHECK(rows != nullptr) << type.full_name();
  const Reflection& reflection = *table.GetReflection();
  Json json = {{"columns", ColumnsOf(*rows->message_type())},
               {"rows", Json::array()}};
  for (int i = 0; i < reflection.FieldSize(table, rows); ++i) {
    json["rows"].push_back(
        RowJson(reflection.GetRepeatedMessage(table, rows, i)));
  }
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (&field == rows) continue;
    json[NameOf(field)] = FieldJson(table, field, JsonForm::kReport);
  }
  return json;
}

void AddFields(const Message& message, const std::string& before, Json& json) {
  const Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (HasPrefix(field)) {
      AddFields(message.GetReflection()->GetMessage(message, &field),
                before + field.options().GetExtension(prefix), json);
    } else if (json.is_array()) {
      json.push_back(FieldJson(message, field, JsonForm::kReport));
    } else {
      json[before + NameOf(field)] =
          FieldJson(message, field, JsonForm::kReport);
    }
  }
}

void AddColumns(const Descriptor& row, const std::string& before,
                std::vector<std::string>& columns) {
  for (int i = 0; i < row.field_count(); ++i) {
    const FieldDescriptor& field = *row.field(i);
    if (HasPrefix(field)) {
      AddColumns(*field.message_type(),
                 before + field.options().GetExtension(prefix), columns);
      continue;
    }
    CHECK(!field.is_repeated() &&
          field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
        << field.full_name() << " is no cell";
    columns.push_back(before + NameOf(field));
  }
}

}  // namespace

Json MessageJson(const Message& message, JsonForm form) {
  if (form != JsonForm::kReport) return ConfigJson(message, form);
  const auto& options = message.GetDescriptor()->options();
  if (options.HasExtension(table)) return TableJson(message);
  Json json = options.GetExtension(is_list) ? Json::array() : Json::object();
  AddFields(message, "", json);
  return json;
}

std::vector<std::string> ColumnsOf(const Descriptor& row) {
  std::vector<std::string> columns;
  AddColumns(row, "", columns);
  return columns;
}

void ForEachCell(const Message& row, absl::FunctionRef<void(Json cell)> visit) {
  const Descriptor& type = *row.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      ForEachCell(row.GetReflection()->GetMessage(row, &field), visit);
    } else {
      visit(FieldJson(row, field, JsonForm::kReport));
    }
  }
}

}  // namespace distbench::base
