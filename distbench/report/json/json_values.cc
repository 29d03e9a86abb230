#include "distbench/report/json/json_values.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "google/protobuf/descriptor.h"

namespace distbench::report {
namespace {

using base::Json;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The element of a repeated field, or the value of another.
Json ValueJson(const Message& message, const FieldDescriptor& field,
               int index) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const bool is_repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return is_repeated ? reflection.GetRepeatedBool(message, &field, index)
                         : reflection.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_INT32:
      return is_repeated ? reflection.GetRepeatedInt32(message, &field, index)
                         : reflection.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return is_repeated ? reflection.GetRepeatedInt64(message, &field, index)
                         : reflection.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_STRING:
      return is_repeated ? reflection.GetRepeatedString(message, &field, index)
                         : reflection.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageJson(
          is_repeated ? reflection.GetRepeatedMessage(message, &field, index)
                      : reflection.GetMessage(message, &field),
          AbsentField::kDefault);
    default:
      break;
  }
  LOG(FATAL) << field.full_name() << " has a type that no report shows";
  return nullptr;
}

// Numbers are sorted as numbers.
Json MapJson(const Message& message, const FieldDescriptor& field) {
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  std::map<Json, Json> sorted;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    sorted[ValueJson(entry, key, 0)] = ValueJson(entry, value, 0);
  }
  Json json = Json::object();
  for (auto& [name, content] : sorted) {
    json[name.is_string() ? name.get<std::string>() : name.dump()] =
        std::move(content);
  }
  return json;
}

Json FieldJson(const Message& message, const FieldDescriptor& field,
               AbsentField absent) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (field.is_map()) return MapJson(message, field);
  if (field.is_repeated()) {
    Json json = Json::array();
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      json.push_back(ValueJson(message, field, i));
    }
    return json;
  }
  if (absent == AbsentField::kNull && !reflection.HasField(message, &field)) {
    return nullptr;
  }
  return ValueJson(message, field, 0);
}

}  // namespace

Json FieldsJson(const Message& message,
                std::initializer_list<absl::string_view> names,
                AbsentField absent) {
  Json json = Json::object();
  for (const absl::string_view name : names) {
    const std::string key(name);
    const FieldDescriptor* field =
        message.GetDescriptor()->FindFieldByName(key);
    CHECK(field != nullptr) << key;
    json[key] = FieldJson(message, *field, absent);
  }
  return json;
}

Json MessageJson(const Message& message, AbsentField absent) {
  Json json = Json::object();
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    json[type.field(i)->name()] = FieldJson(message, *type.field(i), absent);
  }
  return json;
}

}  // namespace distbench::report
