// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/testing/used_fields.h"

#include <vector>

#include "google/protobuf/descriptor.h"

namespace distbench::config {

void CollectUsedFields(const google::protobuf::Message& message,
                       std::set<std::string>& names) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    names.insert(field->full_name());
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      CollectUsedFields(reflection.GetMessage(message, field), names);
      continue;
    }
    const int size = reflection.FieldSize(message, field);
    for (int i = 0; i < size; ++i) {
      CollectUsedFields(reflection.GetRepeatedMessage(message, field, i),
                        names);
    }
  }
}

}  // namespace distbench::config
