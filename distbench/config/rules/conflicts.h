// What does not go together in a message: the conditions of conflicts
// (proto/rules.proto), and their words.

#ifndef DISTBENCH_CONFIG_RULES_CONFLICTS_H_
#define DISTBENCH_CONFIG_RULES_CONFLICTS_H_

#include <string>

#include "distbench/config/rules/type_rules.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::config {

// As text format has it, but texts without quotes. Of a list of texts, the
// element `index`; kNone (plan/test_names.h): the field is no list.
std::string ValueText(const google::protobuf::Message& message,
                      const google::protobuf::FieldDescriptor* field,
                      int index);

// Wide enough for all digits of all numbers.
long double NumberIn(const google::protobuf::Message& message,
                     const google::protobuf::FieldDescriptor* field);

// Whether the condition is true of the message with its field.
bool Holds(const google::protobuf::Message& message,
           const Condition& condition);

// What is wrong, with the values of the fields that are shown; `element` is
// that of the list at which it is, or kNone.
std::string ProblemOf(const google::protobuf::Message& message,
                      const ConflictRule& conflict, int element);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_RULES_CONFLICTS_H_
