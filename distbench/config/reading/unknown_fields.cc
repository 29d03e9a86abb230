// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/unknown_fields.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/unknown_field_set.h"

namespace distbench::config {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// `path` is that of the message; empty for the whole.
std::string FirstUnknownIn(const Message& message, const std::string& path) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const auto& unknown = reflection.GetUnknownFields(message);
  if (!unknown.empty()) {
    return absl::StrCat("field ", unknown.field(0).number(), " of ",
                        path.empty() ? "the message" : path);
  }
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const std::string name =
        absl::StrCat(path, path.empty() ? "" : ".", field->name());
    if (!field->is_repeated()) {
      std::string found =
          FirstUnknownIn(reflection.GetMessage(message, field), name);
      if (!found.empty()) return found;
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      std::string found =
          FirstUnknownIn(reflection.GetRepeatedMessage(message, field, i),
                         absl::StrCat(name, "[", i, "]"));
      if (!found.empty()) return found;
    }
  }
  return "";
}

}  // namespace

std::string FirstUnknownField(const Message& message) {
  return FirstUnknownIn(message, "");
}

}  // namespace distbench::config
