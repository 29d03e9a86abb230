// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/places.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/rules/type_rules.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::config {
namespace {

constexpr int kMaxErrors = 100;

// Every byte of a character but the first has the bits 10xxxxxx.
bool BeginsCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

std::vector<absl::string_view> LinesOf(absl::string_view text) {
  return absl::StrSplit(text, '\n');
}

}  // namespace

PlaceNames::PlaceNames(absl::string_view source, absl::string_view text)
    : source_(source), lines_(LinesOf(text)) {}

std::string PlaceNames::NameOf(Place place) const {
  auto column = static_cast<int64_t>(place.column);
  if (place.line < static_cast<int>(lines_.size())) {
    const absl::string_view before = lines_[place.line].substr(0, column);
    column -= std::count_if(before.begin(), before.end(),
                            [](char byte) { return !BeginsCharacter(byte); });
  }
  return absl::StrCat(source_, ":", place.line + 1, ":", column + 1);
}

bool PlacedErrors::full() const { return errors_.size() >= kMaxErrors; }

absl::Status PlacedErrors::ToStatus() const {
  if (errors_.empty()) return absl::OkStatus();
  const PlaceNames names(source_, text_);
  std::vector<std::string> lines;
  for (const auto& [place, message] : errors_) {
    lines.push_back(absl::StrCat(names.NameOf(place), ": ", message));
  }
  if (full()) {
    lines.push_back(absl::StrCat(source_, ": there may be more than these ",
                                 kMaxErrors, " errors"));
  }
  return absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

// ---- Places in messages -----------------------------------------------------

namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

constexpr int kNotThere = -1;

// By which a path calls an element of a list, or an entry of a map. Null if it
// has no name.
const FieldDescriptor* NameField(const FieldDescriptor& field) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return nullptr;
  const FieldDescriptor* name =
      field.is_map() ? field.message_type()->map_key()
                     : field.message_type()->FindFieldByName("name");
  const bool is_text =
      name != nullptr && name->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  return is_text ? name : nullptr;
}

// Of several elements of a name, paths call the first by it. Long names are cut
// short in paths, so that a path may mean any of several: none is better than a
// wrong one.
int PositionOf(const Message& owner, const FieldDescriptor& field,
               absl::string_view quoted_key) {
  const FieldDescriptor* const name = NameField(field);
  if (name == nullptr) return kNotThere;
  const bool may_be_cut = absl::EndsWith(quoted_key, "...\"");
  const Reflection& reflection = *owner.GetReflection();
  int position = kNotThere;
  for (int i = 0; i < reflection.FieldSize(owner, &field); ++i) {
    const Message& element = reflection.GetRepeatedMessage(owner, &field, i);
    if (Quoted(element.GetReflection()->GetString(element, name)) !=
        quoted_key) {
      continue;
    }
    if (!may_be_cut) return i;
    if (position != kNotThere) return kNotThere;
    position = i;
  }
  return position;
}

// The position of the element that a step of a path names.
int PositionOf(const Message& owner, const FieldDescriptor& field,
               const PathStep& step) {
  if (!field.is_repeated() || !step.field.empty()) return kNotThere;
  if (!step.quoted_key.empty()) {
    return PositionOf(owner, field, step.quoted_key);
  }
  // Entries of a map have no positions that a reader could count.
  const int size = owner.GetReflection()->FieldSize(owner, &field);
  return field.is_map() || step.index >= size ? kNotThere : step.index;
}

// The message in a field, or in an element of a list or of a map. Null if its
// value is no message.
const Message* MessageIn(const Message& owner, const FieldDescriptor& field,
                         int index) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return nullptr;
  const Reflection& reflection = *owner.GetReflection();
  if (!field.is_repeated()) return &reflection.GetMessage(owner, &field);
  const Message& element = reflection.GetRepeatedMessage(owner, &field, index);
  if (!field.is_map()) return &element;
  return MessageIn(element, *field.message_type()->map_value(), 0);
}

}  // namespace

void MessagePlaces::Add(const Message& owner, const FieldDescriptor& field,
                        int index, Place place) {
  places_.try_emplace({&owner, &field, index}, place);
}

const Place* MessagePlaces::At(const Message& owner,
                               const FieldDescriptor& field, int index) const {
  const auto found = places_.find({&owner, &field, index});
  return found == places_.end() ? nullptr : &found->second;
}

const FieldDescriptor* MessagePlaces::FieldAsWritten(
    const Message& message, absl::string_view name) const {
  const FieldDescriptor* const field =
      message.GetDescriptor()->FindFieldByName(std::string(name));
  if (field == nullptr || At(message, *field, kField) != nullptr) return field;
  const FieldDescriptor* const other = SameAs(*field);
  const bool is_written =
      other != nullptr && At(message, *other, kField) != nullptr;
  return is_written ? other : field;
}

std::optional<Place> MessagePlaces::Find(const Message& message,
                                         absl::string_view path) const {
  std::optional<Place> place;
  const Message* owner = &message;
  const std::vector<PathStep> steps = StepsOf(path);
  for (size_t i = 0; i < steps.size() && owner != nullptr; ++i) {
    const FieldDescriptor* const field = FieldAsWritten(*owner, steps[i].field);
    const Place* found =
        field == nullptr ? nullptr : At(*owner, *field, kField);
    if (found == nullptr) return place;
    place = *found;
    int index = kNotThere;
    if (field->is_repeated()) {
      if (i + 1 == steps.size()) return place;
      index = PositionOf(*owner, *field, steps[++i]);
      found = index == kNotThere ? nullptr : At(*owner, *field, index);
      if (found == nullptr) return place;
      place = *found;
    }
    owner = MessageIn(*owner, *field, index);
  }
  return place;
}

}  // namespace distbench::config
