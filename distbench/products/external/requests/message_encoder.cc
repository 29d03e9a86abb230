// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/requests/message_encoder.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::external {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

constexpr char kUrlPrefix[] = "type.googleapis.com";

// As protobuf has it for JSON and for the wire format. Its text format has no
// limit of its own.
constexpr int kMaxDepth = 100;

// Keeps the first error of a parser.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ =
        absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

MessageEncoder::MessageEncoder(const Descriptor& type, bool is_json)
    : type_(type),
      is_json_(is_json),
      factory_(type.file()->pool()),
      prototype_(*factory_.GetPrototype(&type)),
      resolver_(google::protobuf::util::NewTypeResolverForDescriptorPool(
          kUrlPrefix, type.file()->pool())) {}

absl::Status MessageEncoder::Encode(const std::string& text,
                                    std::string& bytes) const {
  bytes.clear();
  if (is_json_) return EncodeJson(text, bytes);
  const std::unique_ptr<Message> message(prototype_.New());
  if (absl::Status parsed = ParseText(text, *message); !parsed.ok()) {
    return parsed;
  }
  message->SerializeToString(&bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Message>> MessageEncoder::Parse(
    const std::string& text) const {
  std::unique_ptr<Message> message(prototype_.New());
  if (!is_json_) {
    if (absl::Status parsed = ParseText(text, *message); !parsed.ok()) {
      return parsed;
    }
    return message;
  }
  std::string bytes;
  if (absl::Status encoded = EncodeJson(text, bytes); !encoded.ok()) {
    return encoded;
  }
  message->ParsePartialFromString(bytes);
  if (message->IsInitialized()) return message;
  return Error(absl::StrCat("required fields are missing: ",
                            message->InitializationErrorString()));
}

absl::Status MessageEncoder::CheckBytes(const std::string& bytes) const {
  const std::unique_ptr<Message> message(prototype_.New());
  if (!message->ParsePartialFromString(bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its ", bytes.size(), " bytes are no ", type_.full_name(),
        " in the wire format; let protobuf write them, as `protoc --encode` "
        "does"));
  }
  if (message->IsInitialized()) return absl::OkStatus();
  return Error(absl::StrCat("required fields are missing: ",
                            message->InitializationErrorString()));
}

absl::Status MessageEncoder::EncodeJson(const std::string& text,
                                        std::string& bytes) const {
  const auto status = google::protobuf::util::JsonToBinaryString(
      resolver_.get(), absl::StrCat(kUrlPrefix, "/", type_.full_name()), text,
      &bytes);
  if (status.ok()) return absl::OkStatus();
  return Error(std::string(status.message()));
}

absl::Status MessageEncoder::ParseText(const std::string& text,
                                       Message& message) const {
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxDepth);
  if (parser.ParseFromString(text, &message)) return absl::OkStatus();
  return Error(error.text());
}

absl::Status MessageEncoder::Error(absl::string_view problem) const {
  std::vector<std::string> fields;
  for (int i = 0; i < type_.field_count(); ++i) {
    fields.push_back(type_.field(i)->name());
  }
  return absl::InvalidArgumentError(absl::StrCat(
      absl::StripSuffix(problem, "."), "; ", type_.full_name(),
      fields.empty()
          ? " has no fields"
          : absl::StrCat(" has the fields ", config::QuotedList(fields))));
}

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

// Marks are numbers of ten digits that fit all types of integers.
constexpr int kFirstMark = 1'913'000'000;
constexpr int kMaxMarks = 1000;

bool HasOwnJson(const Message& message) {
  return message.GetDescriptor()->file()->package() == "google.protobuf";
}

// Reads an integer of type T in its canonical form.
template <typename T>
bool ReadInteger(const std::string& text, T& value) {
  return absl::SimpleAtoi(text, &value) && absl::StrCat(value) == text;
}

// Calls Set<type>() or SetRepeated<type>() of reflection.
template <typename T>
bool SetInteger(const std::string& text, int element,
                const FieldDescriptor& field, Message& parent,
                void (Reflection::*set)(Message*, const FieldDescriptor*, T)
                    const,
                void (Reflection::*set_repeated)(Message*,
                                                 const FieldDescriptor*, int, T)
                    const) {
  T value = 0;
  if (!ReadInteger(text, value)) return false;
  const Reflection& reflection = *parent.GetReflection();
  if (element < 0) {
    (reflection.*set)(&parent, &field, value);
  } else {
    (reflection.*set_repeated)(&parent, &field, element, value);
  }
  return true;
}

// Returns the value of a field as text if it is an integer, otherwise "".
std::string IntegerText(const Message& parent, const FieldDescriptor& field,
                        int element) {
  const Reflection& reflection = *parent.GetReflection();
  const bool single = element < 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(
          single ? reflection.GetInt32(parent, &field)
                 : reflection.GetRepeatedInt32(parent, &field, element));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(
          single ? reflection.GetInt64(parent, &field)
                 : reflection.GetRepeatedInt64(parent, &field, element));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(
          single ? reflection.GetUInt32(parent, &field)
                 : reflection.GetRepeatedUInt32(parent, &field, element));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(
          single ? reflection.GetUInt64(parent, &field)
                 : reflection.GetRepeatedUInt64(parent, &field, element));
    default:
      return "";
  }
}

}  // namespace

PatchedMessage::PatchedMessage(const Template& text) : text_(text) {
  for (int i = 0; i < text.variable_count(); ++i) {
    marks_.push_back(absl::StrCat(kFirstMark + i));
  }
}

std::unique_ptr<PatchedMessage> PatchedMessage::Make(
    const MessageEncoder& encoder, const Template& text) {
  const int count = text.variable_count();
  if (count == 0 || count > kMaxMarks) return nullptr;
  std::unique_ptr<PatchedMessage> patched(new PatchedMessage(text));
  auto message = encoder.Parse(text.With(patched->marks_));
  if (!message.ok()) return nullptr;
  patched->message_ = *std::move(message);
  patched->FindLeaves(*patched->message_);
  if (!patched->FoundEachOnce()) return nullptr;
  return patched;
}

void PatchedMessage::FindLeaves(Message& message) {
  if (HasOwnJson(message)) return;
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->is_map()) continue;
    if (!field->is_repeated()) {
      FindLeavesIn(message, *field, -1);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      FindLeavesIn(message, *field, i);
    }
  }
}

void PatchedMessage::FindLeavesIn(Message& parent, const FieldDescriptor& field,
                                  int element) {
  const Reflection& reflection = *parent.GetReflection();
  Leaf leaf = {.parent = &parent, .field = &field, .element = element};
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    FindLeaves(element < 0 ? *reflection.MutableMessage(&parent, &field)
                           : *reflection.MutableRepeatedMessage(&parent, &field,
                                                                element));
  } else if (field.type() == FieldDescriptor::TYPE_STRING) {
    AddString(element < 0
                  ? reflection.GetString(parent, &field)
                  : reflection.GetRepeatedString(parent, &field, element),
              std::move(leaf));
  } else {
    AddInteger(IntegerText(parent, field, element), std::move(leaf));
  }
}

// Returns the variable for which a text stands, or -1.
int PatchedMessage::VariableOf(absl::string_view text) const {
  int number = 0;
  if (text.size() != marks_[0].size() || !absl::SimpleAtoi(text, &number)) {
    return -1;
  }
  const int variable = number - kFirstMark;
  return variable < static_cast<int>(marks_.size()) ? std::max(variable, -1)
                                                    : -1;
}

// Splits the value at its marks.
void PatchedMessage::AddString(const std::string& value, Leaf leaf) {
  size_t end_of_last = 0;
  const size_t length = marks_[0].size();
  for (size_t i = 0; i + length <= value.size();) {
    const int variable = VariableOf(absl::string_view(value).substr(i, length));
    if (variable < 0) {
      ++i;
      continue;
    }
    leaf.variables.push_back(variable);
    leaf.literals.push_back(value.substr(end_of_last, i - end_of_last));
    i += length;
    end_of_last = i;
  }
  if (leaf.variables.empty()) return;
  leaf.literals.push_back(value.substr(end_of_last));
  leaves_.push_back(std::move(leaf));
}

void PatchedMessage::AddInteger(const std::string& value, Leaf leaf) {
  const int variable = VariableOf(value);
  if (variable < 0) return;
  leaf.variables = {variable};
  leaves_.push_back(std::move(leaf));
}

bool PatchedMessage::FoundEachOnce() const {
  std::vector<int> times(marks_.size(), 0);
  for (const Leaf& leaf : leaves_) {
    for (const int variable : leaf.variables) ++times[variable];
  }
  return absl::c_all_of(times, [](int count) { return count == 1; });
}

bool PatchedMessage::Encode(const TemplateRequest& request,
                            std::string& bytes) {
  for (const Leaf& leaf : leaves_) {
    const bool patched = leaf.literals.empty() ? PatchInteger(leaf, request)
                                               : PatchString(leaf, request);
    if (!patched) return false;
  }
  message_->SerializeToString(&bytes);
  return true;
}

bool PatchedMessage::PatchString(const Leaf& leaf,
                                 const TemplateRequest& request) {
  std::string value = leaf.literals[0];
  for (size_t i = 0; i < leaf.variables.size(); ++i) {
    value_.clear();
    text_.AppendValueOf(leaf.variables[i], request, value_);
    if (!absl::c_all_of(value_, absl::ascii_isascii)) return false;
    absl::StrAppend(&value, value_, leaf.literals[i + 1]);
  }
  const Reflection& reflection = *leaf.parent->GetReflection();
  if (leaf.element < 0) {
    reflection.SetString(leaf.parent, leaf.field, std::move(value));
  } else {
    reflection.SetRepeatedString(leaf.parent, leaf.field, leaf.element,
                                 std::move(value));
  }
  return true;
}

bool PatchedMessage::PatchInteger(const Leaf& leaf,
                                  const TemplateRequest& request) {
  value_.clear();
  text_.AppendValueOf(leaf.variables[0], request, value_);
  Message& parent = *leaf.parent;
  const FieldDescriptor& field = *leaf.field;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return SetInteger(value_, leaf.element, field, parent,
                        &Reflection::SetInt32, &Reflection::SetRepeatedInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return SetInteger(value_, leaf.element, field, parent,
                        &Reflection::SetInt64, &Reflection::SetRepeatedInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return SetInteger(value_, leaf.element, field, parent,
                        &Reflection::SetUInt32, &Reflection::SetRepeatedUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return SetInteger(value_, leaf.element, field, parent,
                        &Reflection::SetUInt64, &Reflection::SetRepeatedUInt64);
    default:
      return false;
  }
}

}  // namespace distbench::external
