// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/parse.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/json.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/places.h"
#include "distbench/config/reading/suggestions.h"
#include "distbench/config/reading/yaml_document.h"
#include "distbench/config/rules/type_rules.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::EnumValueDescriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::OneofDescriptor;
using ::google::protobuf::Reflection;

using Kind = YamlNode::Kind;

// As for text.
constexpr int kMaxMessageNesting = 50;

constexpr char kMergeKey[] = "<<";

// A key of a map and its value.
struct Entry {
  const YamlNode* key;
  const YamlNode* value;
  bool is_merged;  // comes from another map, and gives way to others
};

absl::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kMissing:
      return "nothing";
    case Kind::kNull:
      return "null";
    case Kind::kScalar:
      return "a single value";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return "";
}

const FieldDescriptor* FindField(const Descriptor& type,
                                 const std::string& name) {
  const FieldDescriptor* field = type.FindFieldByName(name);
  return field != nullptr ? field : type.FindFieldByCamelcaseName(name);
}

// ---- Numbers ----------------------------------------------------------------

// "007" is 7 or, in other languages, octal; nobody should have to know.
bool HasLeadingZero(absl::string_view text) {
  if (absl::StartsWith(text, "-")) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && absl::ascii_isdigit(text[1]);
}

bool IsDecimal(absl::string_view text) {
  return !text.empty() && (absl::ascii_isdigit(text.back())) &&
         text.find_first_not_of("0123456789+-.eE") == absl::string_view::npos &&
         text[0] != '+' && !HasLeadingZero(text);
}

struct SpecialNumber {
  const char* name;
  double value;
};

// As YAML and as JSON write them.
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr SpecialNumber kSpecialNumbers[] = {
    {".inf", kInfinity},     {"-.inf", -kInfinity},     {".nan", kNotANumber},
    {"Infinity", kInfinity}, {"-Infinity", -kInfinity}, {"NaN", kNotANumber},
};

// Absent if the text is no number. Infinite for numbers that are too large.
std::optional<double> NumberIn(absl::string_view text) {
  for (const SpecialNumber& special : kSpecialNumbers) {
    if (text == special.name) return special.value;
  }
  double number = 0;
  if (!IsDecimal(text) || !absl::SimpleAtod(text, &number)) return std::nullopt;
  return number;
}

// Up to this, doubles have all digits of whole numbers.
constexpr double kMaxExact = int64_t{1} << 53;

// Whether all digits of the text fit, in either of the ways to write whole
// numbers: 1000, or 1e3.
template <typename Integer>
bool ParseInteger(absl::string_view text, double number, Integer* integer) {
  if (absl::SimpleAtoi(text, integer)) return true;
  const bool is_written_whole =
      text.find_first_of(".eE") == absl::string_view::npos;
  if (is_written_whole || std::abs(number) > kMaxExact ||
      number < static_cast<double>(std::numeric_limits<Integer>::min()) ||
      number > static_cast<double>(std::numeric_limits<Integer>::max())) {
    return false;
  }
  *integer = static_cast<Integer>(number);
  return true;
}

// ---- Messages ---------------------------------------------------------------

class MessageFiller {
 public:
  MessageFiller(const YamlDocument& document, PlacedErrors& errors,
                MessagePlaces* places)
      : errors_(errors),
        places_(places),
        budget_(document.cost + kMaxRepeatedBytes) {}

  // `depth` counts the messages around this one.
  void FillMessage(const YamlNode& node, Message& message, int depth);

 private:
  // Whether to go on, after a visit of this node.
  bool Visit(const YamlNode& node);

  // Appends the entries of a map, then those that it merges.
  void ListEntries(const YamlNode& map, bool is_merged, int depth,
                   std::vector<Entry>& entries);

  void FillField(const Entry& entry, const FieldDescriptor& field,
                 Message& message, int depth);
  void FillList(const YamlNode& node, const FieldDescriptor& field,
                Message& message, int depth);
  void FillMap(const YamlNode& node, const FieldDescriptor& field,
               Message& message, int depth);

  // Sets a singular field, or adds to a repeated one.
  void FillValue(const YamlNode& node, const FieldDescriptor& field,
                 Message& message, int depth);
  void FillText(const YamlNode& node, const FieldDescriptor& field,
                Message& message);
  void FillBool(const YamlNode& node, const FieldDescriptor& field,
                Message& message);
  void FillEnum(const YamlNode& node, const FieldDescriptor& field,
                Message& message);
  void FillFloatingPoint(const YamlNode& node, const FieldDescriptor& field,
                         Message& message);
  template <typename Integer>
  void FillInteger(
      const YamlNode& node, const FieldDescriptor& field, Message& message,
      void (Reflection::*set)(Message*, const FieldDescriptor*, Integer) const,
      void (Reflection::*add)(Message*, const FieldDescriptor*, Integer) const);

  void AddWrong(const YamlNode& node, const FieldDescriptor& field,
                absl::string_view remedy);

  // The part of a message that a node says.
  void AddPlace(const Message& owner, const FieldDescriptor& field, int index,
                const YamlNode& node) {
    if (places_ != nullptr) places_->Add(owner, field, index, node.place);
  }

  PlacedErrors& errors_;
  MessagePlaces* const places_;  // may be null
  int64_t budget_;
};

bool MessageFiller::Visit(const YamlNode& node) {
  if (budget_ < 0) return false;
  budget_ -= CostOf(node);
  if (budget_ < 0) {
    errors_.Add(node.place, "aliases repeat this and more than ",
                kMaxRepeatedBytes >> 20,
                " MiB in all; use fewer, or smaller ones");
  }
  return budget_ >= 0 && !errors_.full();
}

// Adds `count is "many"; must be a number`.
void MessageFiller::AddWrong(const YamlNode& node, const FieldDescriptor& field,
                             absl::string_view remedy) {
  const std::string what = node.kind == Kind::kScalar
                               ? Quoted(node.text)
                               : std::string(NameOf(node.kind));
  errors_.Add(node.place, field.name(), " is ", what, "; ", remedy);
}

void MessageFiller::ListEntries(const YamlNode& map, bool is_merged, int depth,
                                std::vector<Entry>& entries) {
  if (depth > kMaxMessageNesting) {
    errors_.Add(map.place, "is merged through too many other maps");
    return;
  }
  std::vector<const YamlNode*> merged;
  for (size_t i = 0; i + 1 < map.children.size(); i += 2) {
    const YamlNode& key = *map.children[i];
    const YamlNode& value = *map.children[i + 1];
    if (!Visit(key)) return;
    if (key.kind == Kind::kScalar && key.is_plain && key.text == kMergeKey) {
      if (value.kind == Kind::kList) {
        merged.insert(merged.end(), value.children.begin(),
                      value.children.end());
      } else {
        merged.push_back(&value);
      }
    } else if (key.kind == Kind::kScalar) {
      entries.push_back({&key, &value, is_merged});
    } else {
      errors_.Add(key.place, "expected a name, found ", NameOf(key.kind));
    }
  }
  for (const YamlNode* other : merged) {
    if (!Visit(*other)) return;
    if (other->kind == Kind::kMap) {
      ListEntries(*other, true, depth + 1, entries);
    } else {
      errors_.Add(other->place, "expected a map to merge, found ",
                  NameOf(other->kind));
    }
  }
}

void MessageFiller::FillMessage(const YamlNode& node, Message& message,
                                int depth) {
  const Descriptor& type = *message.GetDescriptor();
  if (depth > kMaxMessageNesting) {
    errors_.Add(node.place, "messages are nested too deep");
    return;
  }
  if (node.kind != Kind::kMap) {
    errors_.Add(node.place, "expected fields of ", type.name(), ", found ",
                NameOf(node.kind), "; the fields are ",
                QuotedList(FieldNames(type)));
    return;
  }
  std::vector<Entry> entries;
  ListEntries(node, false, depth, entries);
  absl::flat_hash_set<const FieldDescriptor*> seen;
  absl::flat_hash_set<const OneofDescriptor*> seen_oneofs;
  for (const Entry& entry : entries) {
    if (errors_.full()) return;
    const std::string& name = entry.key->text;
    const FieldDescriptor* field = FindField(type, name);
    if (field == nullptr) {
      errors_.Add(entry.key->place, "Message type \"", type.full_name(),
                  "\" has no field named ", Quoted(name), ".",
                  FieldSuggestion(type, name));
      continue;
    }
    const bool is_new = seen.insert(field).second;
    if (!is_new && !entry.is_merged) {
      errors_.Add(entry.key->place, "The field ", Quoted(field->name()),
                  " is given more than once.");
    }
    if (!is_new || entry.value->kind == Kind::kNull) continue;
    const OneofDescriptor* oneof = field->containing_oneof();
    if (oneof != nullptr && !seen_oneofs.insert(oneof).second) {
      if (entry.is_merged) continue;
      errors_.Add(entry.key->place, "The field ", Quoted(field->name()),
                  " is given along with another member of the oneof ",
                  Quoted(oneof->name()), ".");
      continue;
    }
    FillField(entry, *field, message, depth);
  }
}

void MessageFiller::FillField(const Entry& entry, const FieldDescriptor& field,
                              Message& message, int depth) {
  const YamlNode& value = *entry.value;
  if (!Visit(value)) return;
  AddPlace(message, field, MessagePlaces::kField, *entry.key);
  if (value.kind == Kind::kMissing) {
    const absl::string_view empty =
        field.is_repeated() && !field.is_map()                 ? "[]"
        : field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE ? "{}"
        : field.cpp_type() == FieldDescriptor::CPPTYPE_STRING  ? "\"\""
                                                               : "";
    errors_.Add(entry.key->place, field.name(),
                " has no value; leave it out, or indent what belongs to it",
                empty.empty() ? "" : ", or write ", empty);
  } else if (field.is_map()) {
    FillMap(value, field, message, depth);
  } else if (field.is_repeated()) {
    FillList(value, field, message, depth);
  } else {
    FillValue(value, field, message, depth);
  }
}

void MessageFiller::FillList(const YamlNode& node, const FieldDescriptor& field,
                             Message& message, int depth) {
  if (node.kind != Kind::kList) {
    AddWrong(node, field,
             "must be a list: [...], or lines that begin with \"- \"");
    return;
  }
  for (const YamlNode* item : node.children) {
    if (!Visit(*item)) return;
    AddPlace(message, field,
             message.GetReflection()->FieldSize(message, &field), *item);
    FillValue(*item, field, message, depth);
  }
}

void MessageFiller::FillMap(const YamlNode& node, const FieldDescriptor& field,
                            Message& message, int depth) {
  if (node.kind != Kind::kMap) {
    AddWrong(node, field, "must be a map, such as {key: value}");
    return;
  }
  std::vector<Entry> entries;
  ListEntries(node, false, depth, entries);
  absl::flat_hash_set<std::string> keys;
  for (const Entry& entry : entries) {
    if (!Visit(*entry.value)) return;
    if (!keys.insert(entry.key->text).second) {
      if (entry.is_merged) continue;
      errors_.Add(entry.key->place, "The key ", Quoted(entry.key->text), " of ",
                  field.name(), " is given more than once.");
      continue;
    }
    const Reflection& reflection = *message.GetReflection();
    AddPlace(message, field, reflection.FieldSize(message, &field), *entry.key);
    Message& added = *reflection.AddMessage(&message, &field, nullptr);
    FillValue(*entry.key, *field.message_type()->map_key(), added, depth);
    FillValue(*entry.value, *field.message_type()->map_value(), added, depth);
  }
}

void MessageFiller::FillValue(const YamlNode& node,
                              const FieldDescriptor& field, Message& message,
                              int depth) {
  const Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    FillMessage(node,
                field.is_repeated()
                    ? *reflection.AddMessage(&message, &field)
                    : *reflection.MutableMessage(&message, &field),
                depth + 1);
    return;
  }
  if (node.kind != Kind::kScalar) {
    AddWrong(node, field, "must be a single value");
    return;
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return FillInteger<int32_t>(node, field, message, &Reflection::SetInt32,
                                  &Reflection::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return FillInteger<int64_t>(node, field, message, &Reflection::SetInt64,
                                  &Reflection::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return FillInteger<uint32_t>(node, field, message, &Reflection::SetUInt32,
                                   &Reflection::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return FillInteger<uint64_t>(node, field, message, &Reflection::SetUInt64,
                                   &Reflection::AddUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return FillFloatingPoint(node, field, message);
    case FieldDescriptor::CPPTYPE_BOOL:
      return FillBool(node, field, message);
    case FieldDescriptor::CPPTYPE_ENUM:
      return FillEnum(node, field, message);
    case FieldDescriptor::CPPTYPE_STRING:
      return FillText(node, field, message);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return;  // above
  }
}

template <typename Integer>
void MessageFiller::FillInteger(
    const YamlNode& node, const FieldDescriptor& field, Message& message,
    void (Reflection::*set)(Message*, const FieldDescriptor*, Integer) const,
    void (Reflection::*add)(Message*, const FieldDescriptor*, Integer) const) {
  const std::optional<double> number = NumberIn(node.text);
  const bool is_special = node.text.find_first_of("nN") != std::string::npos;
  if (!number.has_value() || std::trunc(*number) != *number || is_special) {
    const FieldDescriptor* const text = SameAs(field);
    AddWrong(node, field,
             absl::StrCat("must be a whole number, in decimal",
                          text == nullptr ? "" : "; with a unit, write ",
                          text == nullptr ? "" : text->name()));
    return;
  }
  Integer integer = 0;
  if (!ParseInteger(node.text, *number, &integer)) {
    constexpr Integer kMin = std::numeric_limits<Integer>::min();
    constexpr Integer kMax = std::numeric_limits<Integer>::max();
    const bool has_room = *number >= static_cast<double>(kMin) &&
                          *number <= static_cast<double>(kMax);
    AddWrong(node, field,
             absl::StrCat("must be from ", kMin, " to ", kMax,
                          has_room ? ", with all digits and no exponent" : ""));
    return;
  }
  const Reflection& reflection = *message.GetReflection();
  (reflection.*(field.is_repeated() ? add : set))(&message, &field, integer);
}

void MessageFiller::FillFloatingPoint(const YamlNode& node,
                                      const FieldDescriptor& field,
                                      Message& message) {
  const std::optional<double> number = NumberIn(node.text);
  if (!number.has_value()) {
    AddWrong(node, field, "must be a number, such as 1000, 0.5 or 1e-3");
    return;
  }
  const bool is_float = field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT;
  const auto narrow = static_cast<float>(*number);
  const bool says_infinity = absl::StrContains(node.text, "nf");
  if (!says_infinity && (is_float ? std::isinf(narrow) : std::isinf(*number))) {
    AddWrong(node, field,
             absl::StrCat("must be at most ",
                          is_float ? std::numeric_limits<float>::max()
                                   : std::numeric_limits<double>::max()));
    return;
  }
  const Reflection& reflection = *message.GetReflection();
  if (!is_float) {
    field.is_repeated() ? reflection.AddDouble(&message, &field, *number)
                        : reflection.SetDouble(&message, &field, *number);
    return;
  }
  field.is_repeated() ? reflection.AddFloat(&message, &field, narrow)
                      : reflection.SetFloat(&message, &field, narrow);
}

void MessageFiller::FillBool(const YamlNode& node, const FieldDescriptor& field,
                             Message& message) {
  const std::string word = absl::AsciiStrToLower(node.text);
  if (word != "true" && word != "false") {
    AddWrong(node, field, "must be true or false");
    return;
  }
  const Reflection& reflection = *message.GetReflection();
  field.is_repeated() ? reflection.AddBool(&message, &field, word == "true")
                      : reflection.SetBool(&message, &field, word == "true");
}

void MessageFiller::FillEnum(const YamlNode& node, const FieldDescriptor& field,
                             Message& message) {
  const EnumDescriptor& type = *field.enum_type();
  const EnumValueDescriptor* value = type.FindValueByName(node.text);
  int number = 0;
  if (value == nullptr && IsDecimal(node.text) &&
      absl::SimpleAtoi(node.text, &number)) {
    value = type.FindValueByNumber(number);
  }
  if (value == nullptr) {
    AddWrong(node, field, Suggestion(node.text, WordsOf(type)));
    return;
  }
  const Reflection& reflection = *message.GetReflection();
  field.is_repeated() ? reflection.AddEnum(&message, &field, value)
                      : reflection.SetEnum(&message, &field, value);
}

void MessageFiller::FillText(const YamlNode& node, const FieldDescriptor& field,
                             Message& message) {
  std::string text = node.text;
  if (field.type() == FieldDescriptor::TYPE_BYTES &&
      !absl::Base64Unescape(node.text, &text) &&
      !absl::WebSafeBase64Unescape(node.text, &text)) {
    AddWrong(node, field, "must be bytes in base64");
    return;
  }
  if (field.type() == FieldDescriptor::TYPE_STRING && node.is_binary) {
    AddWrong(node, field, "must be a text; write it without !!binary");
    return;
  }
  const Reflection& reflection = *message.GetReflection();
  field.is_repeated() ? reflection.AddString(&message, &field, std::move(text))
                      : reflection.SetString(&message, &field, std::move(text));
}

// The place after the beginning of a text.
Place PlaceAfter(absl::string_view beginning) {
  const size_t line_begin = beginning.rfind('\n') + 1;  // 0 in the first line
  return {.line = static_cast<int>(
              std::count(beginning.begin(), beginning.end(), '\n')),
          .column = static_cast<int>(beginning.size() - line_begin)};
}

}  // namespace

absl::Status ParseYaml(absl::string_view text, absl::string_view source,
                       Message& message, MessagePlaces* places) {
  message.Clear();
  PlacedErrors errors(source, text);
  // yaml-cpp would replace others silently.
  const size_t utf8_length = base::Utf8PrefixLength(text);
  if (utf8_length < text.size()) {
    errors.Add(PlaceAfter(text.substr(0, utf8_length)),
               "a character of this line is not UTF-8; save the file as UTF-8");
    return errors.ToStatus();
  }
  const YamlDocument document = ParseYamlDocument(text, errors);
  if (errors.empty() && document.root != nullptr &&
      document.root->kind != Kind::kNull) {
    MessageFiller(document, errors, places)
        .FillMessage(*document.root, message, 0);
  }
  return errors.ToStatus();
}

}  // namespace distbench::config
