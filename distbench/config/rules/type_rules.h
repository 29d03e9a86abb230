// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The rules of a type of messages, read from its descriptor once; and whether
// the conditions of its conflicts (proto/rules.proto) hold in a message.

#ifndef DISTBENCH_CONFIG_RULES_TYPE_RULES_H_
#define DISTBENCH_CONFIG_RULES_TYPE_RULES_H_

#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "proto/rules.pb.h"

namespace distbench::config {

// A field of a product, or with rules, or with messages that have such fields
// within.
struct FieldRule {
  const google::protobuf::FieldDescriptor* field;
  std::string product = {};  // empty: none

  // With all defaults filled in: those of a quantity are those of its number.
  FieldRules rules = {};
  bool has_rules = false;
  bool has_range = false;  // of integers, or of elements

  // Whether it has to be made canonical; and whether there are rules in its
  // messages, and rules that change these.
  bool is_changed = false;
  bool is_checked_within = false;
  bool is_changed_within = false;

  // The fields that the rules name, of the same message or, for references, of
  // the test; null if they name none.
  const google::protobuf::FieldDescriptor* number = nullptr;  // of a quantity
  const google::protobuf::FieldDescriptor* text = nullptr;    // of a number
  std::vector<const google::protobuf::FieldDescriptor*> unless = {};
  const google::protobuf::FieldDescriptor* refers_to = nullptr;  // ListOf()
  const google::protobuf::FieldDescriptor* channel_of = nullptr;
};

// As Conflict.when describes it: about a field, or else about a oneof.
struct Condition {
  // The reference whose element has the field, or the message that has it;
  // null: it is of the message with the conflict.
  const google::protobuf::FieldDescriptor* reference = nullptr;
  const google::protobuf::FieldDescriptor* field = nullptr;
  // The number of a text, or the text of a number; null if there is none.
  const google::protobuf::FieldDescriptor* same = nullptr;
  const google::protobuf::OneofDescriptor* oneof = nullptr;
  std::vector<std::string> values;  // empty: whether it is given
  // Instead of values: the field with a number that this one is above or below.
  const google::protobuf::FieldDescriptor* other = nullptr;
  bool is_above = false;
  bool is_opposite = false;
};

struct ConflictRule {
  // Of each list, at least one holds.
  std::vector<std::vector<Condition>> when;
  const google::protobuf::FieldDescriptor* at = nullptr;  // null: the message
  // The message in which that is; null: that with the conflict.
  const google::protobuf::FieldDescriptor* within = nullptr;
  std::string problem;
  // Those whose values the problem shows.
  std::vector<const google::protobuf::FieldDescriptor*> shown;
};

struct TypeRules {
  std::vector<FieldRule> fields;  // in the order of the declaration
  std::vector<ConflictRule> conflicts;
  bool changes = false;  // some can change a message, here or within
};

// The list of the test that has what the field refers to; null if it refers to
// nothing.
const google::protobuf::FieldDescriptor* ListOf(
    const google::protobuf::FieldDescriptor& reference);

// The text with a unit in place of a number, or the number of such a text; null
// if there is none.
const google::protobuf::FieldDescriptor* SameAs(
    const google::protobuf::FieldDescriptor& field);

// The type of the messages in the field, or of the values of a map; null if
// there are none.
const google::protobuf::Descriptor* MessagesOf(
    const google::protobuf::FieldDescriptor& field);

// Of a type that a test is made of, or of any other, such as SimulatedFabric.
const TypeRules& RulesOf(const google::protobuf::Descriptor* type);

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

#endif  // DISTBENCH_CONFIG_RULES_TYPE_RULES_H_
