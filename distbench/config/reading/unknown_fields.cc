// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/unknown_fields.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/unknown_field_set.h"

namespace distbench::config {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Where there is such a field: its number, and the way to it, from the message
// that has it outwards.
struct Found {
  int number = 0;
  std::vector<std::string> way;
};

// Most messages have none, so the way is only put together on the way back.
bool Find(const Message& message, Found& found) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const auto& unknown = reflection.GetUnknownFields(message);
  if (!unknown.empty()) {
    found.number = unknown.field(0).number();
    return true;
  }
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      if (!Find(reflection.GetMessage(message, field), found)) continue;
      found.way.push_back(field->name());
      return true;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      if (!Find(reflection.GetRepeatedMessage(message, field, i), found)) {
        continue;
      }
      found.way.push_back(absl::StrCat(field->name(), "[", i, "]"));
      return true;
    }
  }
  return false;
}

}  // namespace

std::string FirstUnknownField(const Message& message) {
  Found found;
  if (!Find(message, found)) return "";
  std::reverse(found.way.begin(), found.way.end());
  return absl::StrCat(
      "field ", found.number, " of ",
      found.way.empty() ? "the message" : absl::StrJoin(found.way, "."));
}

}  // namespace distbench::config
