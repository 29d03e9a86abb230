#include "distbench/config/reading/print_yaml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::config {
namespace {

using ::distbench::base::Json;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// ---- From messages to JSON --------------------------------------------------

enum class Int64 { kAsText, kAsNumber };

template <typename Integer>
Json JsonOfInt64(Integer value, Int64 how) {
  return how == Int64::kAsText ? Json(absl::StrCat(value)) : Json(value);
}

Json JsonOfDouble(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
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

Json JsonOfMessage(const Message& message, Int64 how);

// The value of a singular field, or the item `index` of a repeated one.
Json JsonOfValue(const Message& message, const FieldDescriptor* field,
                 int index, Int64 how) {
  const Reflection& get = *message.GetReflection();
  const bool repeated = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return repeated ? get.GetRepeatedInt32(message, field, index)
                      : get.GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return repeated ? get.GetRepeatedUInt32(message, field, index)
                      : get.GetUInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return JsonOfInt64(repeated ? get.GetRepeatedInt64(message, field, index)
                                  : get.GetInt64(message, field),
                         how);
    case FieldDescriptor::CPPTYPE_UINT64:
      return JsonOfInt64(repeated ? get.GetRepeatedUInt64(message, field, index)
                                  : get.GetUInt64(message, field),
                         how);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return JsonOfDouble(repeated
                              ? get.GetRepeatedDouble(message, field, index)
                              : get.GetDouble(message, field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return JsonOfDouble(
          Shortest(repeated ? get.GetRepeatedFloat(message, field, index)
                            : get.GetFloat(message, field)));
    case FieldDescriptor::CPPTYPE_BOOL:
      return repeated ? get.GetRepeatedBool(message, field, index)
                      : get.GetBool(message, field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return (repeated ? get.GetRepeatedEnum(message, field, index)
                       : get.GetEnum(message, field))
          ->name();
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string text = repeated ? get.GetRepeatedString(message, field, index)
                                  : get.GetString(message, field);
      return field->type() == FieldDescriptor::TYPE_BYTES
                 ? absl::Base64Escape(text)
                 : base::ValidUtf8(text);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return JsonOfMessage(repeated
                               ? get.GetRepeatedMessage(message, field, index)
                               : get.GetMessage(message, field),
                           how);
  }
  return nullptr;
}

// The text of a key, which is a name or a number.
std::string KeyOf(const Message& entry, const FieldDescriptor* key_field) {
  const Json key = JsonOfValue(entry, key_field, 0, Int64::kAsText);
  return key.is_string() ? key.get<std::string>() : base::DumpJson(key);
}

Json JsonOfMap(const Message& message, const FieldDescriptor* field,
               Int64 how) {
  const Reflection& reflection = *message.GetReflection();
  std::map<std::string, Json> entries;
  for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, field, i);
    entries[KeyOf(entry, field->message_type()->map_key())] =
        JsonOfValue(entry, field->message_type()->map_value(), 0, how);
  }
  Json json = Json::object();
  for (auto& [key, value] : entries) json[key] = std::move(value);
  return json;
}

Json JsonOfMessage(const Message& message, Int64 how) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  // Readers look for names first.
  std::stable_partition(
      fields.begin(), fields.end(),
      [](const FieldDescriptor* field) { return field->name() == "name"; });
  Json json = Json::object();
  for (const FieldDescriptor* field : fields) {
    Json& value = json[field->name()];
    if (field->is_map()) {
      value = JsonOfMap(message, field, how);
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        value.push_back(JsonOfValue(message, field, i, how));
      }
    } else {
      value = JsonOfValue(message, field, 0, how);
    }
  }
  return json;
}

// ---- From JSON to YAML ------------------------------------------------------

// Whether no reader of YAML, of whichever version, could take the text for
// something else without quotes.
bool IsPlainText(absl::string_view text) {
  // Of numbers, dates, times, and dates with a time after a space.
  constexpr absl::string_view kNumberLike =
      "0123456789abcdefABCDEFxXoO_:.+-TZ ";
  const auto is_usual = [](char c) {
    return absl::ascii_isalnum(c) ||
           absl::StrContains("_-./+%@()=<>;^$|*&~ :,", c);
  };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_usual)) {
    return false;
  }
  const char first = text[0];
  if (!absl::ascii_isalnum(first) && first != '_' && first != '/') return false;
  if (text.back() == ' ' || text.back() == ':' ||
      absl::StrContains(text, ": ")) {
    return false;
  }
  if (absl::ascii_isdigit(first) &&
      text.find_first_not_of(kNumberLike) == absl::string_view::npos) {
    return false;
  }
  static constexpr absl::string_view kWords[] = {
      "true", "false", "yes", "no", "on", "off", "y", "n", "null"};
  return std::find(std::begin(kWords), std::end(kWords),
                   absl::AsciiStrToLower(text)) == std::end(kWords);
}

std::string YamlOfText(const std::string& text) {
  return IsPlainText(text) ? text : base::DumpJson(Json(text));
}

bool IsScalar(const Json& json) {
  return !json.is_structured() || json.empty();
}

std::string YamlOfScalar(const Json& json) {
  return json.is_string() ? YamlOfText(json.get<std::string>())
                          : base::DumpJson(json);
}

// Appends the lines of a map or a list that is not empty.
void AppendYaml(const Json& json, int indentation, std::string& yaml) {
  const std::string margin(indentation, ' ');
  if (json.is_array()) {
    for (const Json& item : json) {
      absl::StrAppend(&yaml, margin, "- ");
      if (IsScalar(item)) {
        absl::StrAppend(&yaml, YamlOfScalar(item), "\n");
        continue;
      }
      std::string lines;
      AppendYaml(item, indentation + 2, lines);
      // The first line has its margin already.
      yaml.append(lines, indentation + 2);
    }
    return;
  }
  for (const auto& [key, value] : json.items()) {
    absl::StrAppend(&yaml, margin, YamlOfText(key), ":");
    if (IsScalar(value)) {
      absl::StrAppend(&yaml, " ", YamlOfScalar(value), "\n");
    } else {
      yaml += '\n';
      AppendYaml(value, value.is_array() ? indentation : indentation + 2, yaml);
    }
  }
}

}  // namespace

std::string ToJson(const Message& message) {
  return base::DumpJson(JsonOfMessage(message, Int64::kAsText), 2) + "\n";
}

std::string ToYaml(const Message& message) {
  const Json json = JsonOfMessage(message, Int64::kAsNumber);
  if (IsScalar(json)) return YamlOfScalar(json) + "\n";
  std::string yaml;
  AppendYaml(json, 0, yaml);
  return yaml;
}

}  // namespace distbench::config
