#include "distbench/products/simulation/variation/field_path.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "proto/rules.pb.h"

namespace distbench::simulation {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::OneofDescriptor;
using ::google::protobuf::Reflection;

// One part of a path: "services[leaf]".
struct PathStep {
  std::string field;
  std::optional<std::string> element;
};

// Takes the first part off the path. Names of elements may contain dots.
absl::StatusOr<PathStep> TakeStep(absl::string_view& path) {
  const size_t name_end = path.find_first_of(".[");
  PathStep step = {std::string(path.substr(0, name_end)), std::nullopt};
  path.remove_prefix(std::min(name_end, path.size()));
  if (!path.empty() && path[0] == '[') {
    const size_t end = path.find(']');
    if (end == absl::string_view::npos) {
      return absl::InvalidArgumentError("a ']' is missing");
    }
    step.element = std::string(path.substr(1, end - 1));
    path.remove_prefix(end + 1);
  }
  if (path.empty()) return step;
  if (path[0] != '.' || path.size() == 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(path), " is not the name of a field"));
  }
  path.remove_prefix(1);
  return step;
}

std::vector<std::string> FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.emplace_back(type.field(i)->name());
  }
  return names;
}

absl::StatusOr<const FieldDescriptor*> FindField(const Message& message,
                                                 const std::string& name) {
  const Descriptor& type = *message.GetDescriptor();
  const FieldDescriptor* const field = type.FindFieldByName(name);
  if (field != nullptr) return field;
  return absl::InvalidArgumentError(
      absl::StrCat("there is no field ", config::Quoted(name), "; ",
                   config::Suggestion(name, FieldNames(type))));
}

// Choosing another alternative would silently remove the one that is there.
absl::Status CheckAlternatives(const Message& message,
                               const FieldDescriptor& field) {
  const OneofDescriptor* const oneof = field.real_containing_oneof();
  if (oneof == nullptr) return absl::OkStatus();
  const FieldDescriptor* const present =
      message.GetReflection()->GetOneofFieldDescriptor(message, oneof);
  if (present == nullptr || present == &field) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      config::Quoted(field.name()), " excludes ",
      config::Quoted(present->name()), ", which is there already"));
}

// What an element of a list is called, by its first field.
std::string NameOfElement(const Message& element) {
  const Descriptor& type = *element.GetDescriptor();
  if (type.field_count() == 0) return "";
  const FieldDescriptor& first = *type.field(0);
  if (first.is_repeated() ||
      first.cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    return "";
  }
  return element.GetReflection()->GetString(element, &first);
}

absl::StatusOr<Message*> FindElement(Message& message,
                                     const FieldDescriptor& list,
                                     const std::string& name) {
  const Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &list);
  std::vector<std::string> names;
  for (int i = 0; i < size; ++i) {
    names.push_back(
        NameOfElement(reflection.GetRepeatedMessage(message, &list, i)));
  }
  const auto found = std::find(names.begin(), names.end(), name);
  const auto count = std::count(found, names.end(), name);
  if (count > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(list.name()), " has ", count, " elements ",
                     config::Quoted(name), "; name one by its number, from 0"));
  }
  int index = static_cast<int>(found - names.begin());
  if (count == 1) {
    return reflection.MutableRepeatedMessage(&message, &list, index);
  }
  if (absl::SimpleAtoi(name, &index) && index >= 0 && index < size) {
    return reflection.MutableRepeatedMessage(&message, &list, index);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      config::Quoted(list.name()), " has no element ", config::Quoted(name),
      "; ", config::Suggestion(name, names)));
}

// The message that the step leads to.
absl::StatusOr<Message*> Descend(Message& message, const FieldDescriptor& field,
                                 const PathStep& step) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
    return absl::InvalidArgumentError(absl::StrCat(
        config::Quoted(step.field), " has no fields, but a value"));
  }
  if (!field.is_repeated() && !step.element) {
    return message.GetReflection()->MutableMessage(&message, &field);
  }
  if (field.is_repeated() && step.element) {
    return FindElement(message, field, *step.element);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      config::Quoted(step.field),
      field.is_repeated() ? " is a list; name one element in brackets: "
                          : " is not a list: ",
      step.field, field.is_repeated() ? "[NAME]" : "", ".FIELD"));
}

// Parse errors are told by the caller.
class SilentCollector final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, google::protobuf::io::ColumnNumber,
                const std::string&) override {}
};

// What the field may be, if that is one of some words.
std::vector<std::string> WordsOf(const FieldDescriptor& field) {
  std::vector<std::string> words;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    words = {"false", "true"};
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    for (int i = 0; i < field.enum_type()->value_count(); ++i) {
      words.emplace_back(field.enum_type()->value(i)->name());
    }
  } else {
    const FieldRules& rules = field.options().GetExtension(distbench::rules);
    words.assign(rules.words().begin(), rules.words().end());
  }
  return words;
}

std::string TypeText(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "a number";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::StrCat("one of ", config::QuotedList(WordsOf(field)));
    default:
      return "a whole number in its range";
  }
}

absl::Status SetValue(Message& message, const FieldDescriptor& field,
                      absl::string_view value) {
  if (field.is_repeated()) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(field.name()), " is a list, not a value"));
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return absl::InvalidArgumentError(absl::StrCat(
        config::Quoted(field.name()), " is not a value, but has the fields ",
        config::QuotedList(FieldNames(*field.message_type()))));
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    message.GetReflection()->SetString(&message, &field, std::string(value));
    return absl::OkStatus();
  }
  SilentCollector errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  if (parser.ParseFieldValueFromString(std::string(value), &field, &message)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(config::Quoted(value), " is not ", TypeText(field)));
}

}  // namespace

absl::Status SetField(absl::string_view path, absl::string_view value,
                      Message& message) {
  Message* at = &message;
  while (true) {
    const absl::StatusOr<PathStep> step = TakeStep(path);
    if (!step.ok()) return step.status();
    const absl::StatusOr<const FieldDescriptor*> field =
        FindField(*at, step->field);
    if (!field.ok()) return field.status();
    const absl::Status alternatives = CheckAlternatives(*at, **field);
    if (!alternatives.ok()) return alternatives;
    if (path.empty() && !step->element) return SetValue(*at, **field, value);
    const absl::StatusOr<Message*> next = Descend(*at, **field, *step);
    if (!next.ok()) return next.status();
    if (path.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "which field of it? It has ",
          config::QuotedList(FieldNames(*(*next)->GetDescriptor()))));
    }
    at = *next;
  }
}

namespace {

// The end of the first part of a path, which a '.' follows; npos if there is
// only one part.
size_t EndOfStep(absl::string_view path) {
  size_t end = path.find_first_of(".[");
  if (end != absl::string_view::npos && path[end] == '[') {
    end = path.find("].", end);
    if (end != absl::string_view::npos) ++end;
  }
  return end;
}

// Removes all parts but the last one from the path. Returns the message to
// which they lead; null if there is none.
Message* FollowPath(absl::string_view& path, Message& message) {
  Message* at = &message;
  for (size_t end = EndOfStep(path); end != absl::string_view::npos;
       end = EndOfStep(path)) {
    absl::string_view part = path.substr(0, end);
    path.remove_prefix(end + 1);
    const absl::StatusOr<PathStep> step = TakeStep(part);
    if (!step.ok()) return nullptr;
    const FieldDescriptor* const field =
        at->GetDescriptor()->FindFieldByName(step->field);
    if (field == nullptr) return nullptr;
    const absl::StatusOr<Message*> next = Descend(*at, *field, *step);
    if (!next.ok()) return nullptr;
    at = *next;
  }
  return at;
}

// How the path goes on from a field: "count=", "host." or "services[leaf].".
void AddWaysOn(const Message& message, const FieldDescriptor& field,
               std::vector<std::string>& ways) {
  const bool has_fields =
      field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_map();
  if (!field.is_repeated()) {
    ways.push_back(absl::StrCat(field.name(), has_fields ? "." : "="));
    return;
  }
  if (!has_fields) return;
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const std::string name =
        NameOfElement(reflection.GetRepeatedMessage(message, &field, i));
    ways.push_back(absl::StrCat(field.name(), "[",
                                name.empty() ? absl::StrCat(i) : name, "]."));
  }
}

}  // namespace

std::vector<std::string> FieldCandidates(absl::string_view typed,
                                         const Message& message) {
  absl::string_view path = typed.substr(0, typed.find('='));
  const bool has_value = path.size() < typed.size();
  const std::unique_ptr<Message> copy(message.New());
  copy->CopyFrom(message);
  const Message* const at = FollowPath(path, *copy);
  if (at == nullptr) return {};
  const Descriptor& type = *at->GetDescriptor();
  std::vector<std::string> ways;
  if (!has_value) {
    for (int i = 0; i < type.field_count(); ++i) {
      AddWaysOn(*at, *type.field(i), ways);
    }
  } else if (const FieldDescriptor* const field =
                 type.FindFieldByName(std::string(path))) {
    ways = WordsOf(*field);
  }
  // Of "host.scheduler=FIFO,", the first value stays.
  const absl::string_view stays = typed.substr(
      0, has_value ? typed.find_last_of("=,") + 1 : typed.size() - path.size());
  for (std::string& way : ways) way.insert(0, std::string(stays));
  return ways;
}

}  // namespace distbench::simulation
