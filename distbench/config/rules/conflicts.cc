#include "distbench/config/rules/conflicts.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/problems/suggest.h"
#include "google/protobuf/text_format.h"
#include "proto/rules.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// An empty text is not given, except in a oneof, of which it takes the place,
// and as a quantity, which it is not: that is reported, and nothing is missing.
bool IsGiven(const Message& message, const FieldDescriptor* field) {
  const Reflection& reflection = *message.GetReflection();
  if (field->is_repeated()) return reflection.FieldSize(message, field) > 0;
  if (!reflection.HasField(message, field)) return false;
  if (field->cpp_type() != FieldDescriptor::CPPTYPE_STRING ||
      field->containing_oneof() != nullptr ||
      field->options().GetExtension(distbench::rules).has_text_of()) {
    return true;
  }
  std::string scratch;
  return !reflection.GetStringReference(message, field, &scratch).empty();
}

}  // namespace

std::string ValueText(const Message& message, const FieldDescriptor* field,
                      int index) {
  const Reflection& reflection = *message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return index == kNone
                 ? reflection.GetString(message, field)
                 : reflection.GetRepeatedString(message, field, index);
    // The commonest ones, which text format writes slowly.
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.GetEnum(message, field)->name();
    default:
      break;
  }
  std::string text;
  google::protobuf::TextFormat::PrintFieldValueToString(message, field, index,
                                                        &text);
  return text;
}

long double NumberIn(const Message& message, const FieldDescriptor* field) {
  const Reflection& reflection = *message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.GetInt64(message, field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.GetFloat(message, field);
    default:
      return reflection.GetDouble(message, field);
  }
}

bool Holds(const Message& message, const Condition& condition) {
  const auto holds = [&] {
    if (condition.field == nullptr) {
      return message.GetReflection()->HasOneof(message, condition.oneof);
    }
    if (condition.other != nullptr) {
      const long double number = NumberIn(message, condition.field);
      const long double other = NumberIn(message, condition.other);
      return condition.is_above ? number > other : number < other;
    }
    if (!condition.values.empty()) {
      return absl::c_linear_search(condition.values,
                                   ValueText(message, condition.field, kNone));
    }
    return IsGiven(message, condition.field) ||
           (condition.same != nullptr && IsGiven(message, condition.same));
  };
  return holds() != condition.is_opposite;
}

std::string ProblemOf(const Message& message, const ConflictRule& conflict,
                      int element) {
  std::string problem = conflict.problem;
  for (const FieldDescriptor* const field : conflict.shown) {
    const std::string text =
        ValueText(message, field, field == conflict.at ? element : kNone);
    const bool is_text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    absl::StrReplaceAll({{absl::StrCat("{", field->name(), "}"),
                          is_text ? Quoted(text) : text}},
                        &problem);
  }
  return problem;
}

}  // namespace distbench::config
