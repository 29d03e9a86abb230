// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/rules/type_rules.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/problems/suggest.h"
#include "glog/logging.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"
#include "proto/product.pb.h"
#include "proto/rules.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::MessageOptions;
using ::google::protobuf::Reflection;

using AllRules = absl::node_hash_map<const Descriptor*, TypeRules>;

int64_t GreatestOf(const FieldDescriptor& field, FieldRules::Unit unit) {
  switch (unit) {
    case FieldRules::NANOSECONDS:
      return 1'000'000'000'000'000'000;
    case FieldRules::MICROSECONDS:
      return 1'000'000'000'000'000;
    default:
      return field.cpp_type() == FieldDescriptor::CPPTYPE_INT32
                 ? std::numeric_limits<int32_t>::max()
                 : std::numeric_limits<int64_t>::max();
  }
}

void AddErrorCodes(FieldRules& rules) {
  // gRPC's codes have the numbers of Abseil's; 0 is success.
  constexpr int kLastErrorCode = 16;
  rules.set_word("not the code of an error");
  for (int code = 1; code <= kLastErrorCode; ++code) {
    rules.add_words(
        absl::StatusCodeToString(static_cast<absl::StatusCode>(code)));
  }
}

FieldRules CompleteRules(const FieldDescriptor& field) {
  FieldRules rules = field.options().GetExtension(distbench::rules);
  if (rules.error_code()) AddErrorCodes(rules);
  const bool has_range =
      rules.has_min() || rules.has_max() || rules.unit() != FieldRules::NO_UNIT;
  if (!has_range) return rules;
  if (!rules.has_min()) rules.set_min(0);
  if (!rules.has_max()) rules.set_max(GreatestOf(field, rules.unit()));
  return rules;
}

FieldRule RuleOf(const FieldDescriptor& field) {
  const bool has_rules = field.options().HasExtension(distbench::rules);
  FieldRule rule{.field = &field,
                 .product = field.options().GetExtension(distbench::product),
                 .rules = CompleteRules(field),
                 .has_rules = has_rules};
  if (rule.rules.has_text_of()) {
    rule.number =
        field.containing_type()->FindFieldByName(rule.rules.text_of());
    const FieldRules of_number = CompleteRules(*rule.number);
    if (!field.options().GetExtension(distbench::rules).has_unit()) {
      rule.rules.set_unit(of_number.unit());
    }
    rule.rules.set_min(of_number.min());
    rule.rules.set_max(of_number.max());
  }
  rule.has_range = rule.rules.has_min();
  rule.channel_of =
      field.containing_type()->FindFieldByName(rule.rules.channel_of());
  for (const std::string& name : rule.rules.unless()) {
    rule.unless.push_back(field.containing_type()->FindFieldByName(name));
  }
  rule.refers_to = ListOf(field);
  return rule;
}

// Of a type with the field, or a oneof, that the text begins with.
Condition ConditionOn(const Descriptor& type, absl::string_view text) {
  Condition condition;
  const size_t end = std::min(text.find_first_of("=<>"), text.size());
  const std::string name(text.substr(0, end));
  condition.field = type.FindFieldByName(name);
  condition.oneof = type.FindOneofByName(name);
  CHECK(condition.field != nullptr || condition.oneof != nullptr)
      << type.full_name() << " has no " << name;
  if (condition.field != nullptr) condition.same = SameAs(*condition.field);
  if (end == text.size()) return condition;
  const absl::string_view rest = text.substr(end + 1);
  if (text[end] == '=') {
    condition.values = absl::StrSplit(rest, ',', absl::SkipEmpty());
  } else {
    condition.other = type.FindFieldByName(std::string(rest));
    condition.is_above = text[end] == '>';
    CHECK(condition.other != nullptr) << type.full_name() << " has no " << rest;
  }
  return condition;
}

// Of what the field is or names; the type itself without a field.
const Descriptor& TypeOf(const Descriptor& type, const FieldDescriptor* field) {
  if (field == nullptr) return type;
  return field->message_type() != nullptr ? *field->message_type()
                                          : *ListOf(*field)->message_type();
}

Condition ConditionOf(const Descriptor& type, absl::string_view text) {
  const bool is_opposite = absl::ConsumePrefix(&text, "!");
  const std::vector<std::string> parts = absl::StrSplit(text, '.');
  const FieldDescriptor* const reference =
      parts.size() > 1 ? type.FindFieldByName(parts.front()) : nullptr;
  CHECK_EQ(parts.size() > 1, reference != nullptr) << type.full_name();
  Condition condition = ConditionOn(TypeOf(type, reference), parts.back());
  condition.reference = reference;
  condition.is_opposite = is_opposite;
  return condition;
}

// One for each field that may be wrong.
void AddConflict(const Descriptor& type, const Conflict& conflict,
                 std::vector<ConflictRule>& rules) {
  ConflictRule rule;
  rule.problem = conflict.problem();
  for (const std::string& alternatives : conflict.when()) {
    rule.when.emplace_back();
    for (const absl::string_view text : absl::StrSplit(alternatives, '|')) {
      rule.when.back().push_back(ConditionOf(type, text));
    }
  }
  for (int i = 0; i < type.field_count(); ++i) {
    const std::string shown = absl::StrCat("{", type.field(i)->name(), "}");
    if (absl::StrContains(rule.problem, shown)) {
      rule.shown.push_back(type.field(i));
    }
  }
  if (conflict.at().empty()) rules.push_back(rule);
  for (const std::string& at : conflict.at()) {
    ConflictRule& added = rules.emplace_back(rule);
    const std::vector<std::string> parts = absl::StrSplit(at, '.');
    if (parts.size() > 1) added.within = type.FindFieldByName(parts.front());
    added.at = TypeOf(type, added.within).FindFieldByName(parts.back());
    CHECK(added.at != nullptr) << type.full_name() << " has no " << at;
    if (conflict.at_size() > 1) added.when.push_back({ConditionOf(type, at)});
  }
}

// Those that excludes, not_with and needs stand for.
std::vector<Conflict> ConflictsOf(const FieldDescriptor& field) {
  const FieldRules& rules = field.options().GetExtension(distbench::rules);
  std::vector<Conflict> conflicts;
  const auto add = [&](const std::string& with, const std::string& problem) {
    conflicts.emplace_back();
    conflicts.back().add_when(field.name());
    conflicts.back().add_when(with);
    conflicts.back().set_problem(problem);
  };
  if (rules.has_excludes()) {
    add(rules.excludes(), absl::StrCat("has both ", field.name(), " and ",
                                       rules.excludes(), "; give one"));
  }
  if (rules.has_not_with()) {
    add(rules.not_with(),
        absl::StrCat("does not go together with ", rules.not_with(),
                     "; remove one of them"));
    conflicts.back().add_at(field.name());
  }
  if (rules.has_needs()) {
    add(absl::StrCat("!", rules.needs()),
        absl::StrCat("needs ", rules.needs(), "; add it"));
    conflicts.back().add_at(field.name());
  }
  return conflicts;
}

std::vector<ConflictRule> ConflictsOf(const Descriptor& type) {
  std::vector<ConflictRule> rules;
  for (int i = 0; i < type.field_count(); ++i) {
    for (const Conflict& conflict : ConflictsOf(*type.field(i))) {
      AddConflict(type, conflict, rules);
    }
  }
  const MessageOptions& options = type.options();
  for (int i = 0; i < options.ExtensionSize(distbench::conflict); ++i) {
    AddConflict(type, options.GetExtension(distbench::conflict, i), rules);
  }
  return rules;
}

// Texts in place of a number, those that have several ways to write the same,
// and defaults that are written out.
bool IsChanged(const FieldDescriptor& field, const FieldRules& rules) {
  return rules.has_text_of() || rules.empty_is_default() ||
         rules.index_list() || rules.has_host_amount() ||
         (rules.unit() == FieldRules::BYTES &&
          field.cpp_type() == FieldDescriptor::CPPTYPE_STRING);
}

// Adds the type and all types within it. Marks on the way back what is within,
// so that a type within itself is not marked for that alone.
const TypeRules& AddType(const Descriptor* type, AllRules& all) {
  const auto [found, is_new] = all.try_emplace(type);
  TypeRules& rules = found->second;
  if (!is_new) return rules;
  rules.conflicts = ConflictsOf(*type);
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor& field = *type->field(i);
    FieldRule rule = RuleOf(field);
    const Descriptor* const messages = MessagesOf(field);
    if (messages == type) {
      rule.is_checked_within = true;
      rule.is_changed_within = true;
    } else if (messages != nullptr) {
      const TypeRules& within = AddType(messages, all);
      rule.is_checked_within =
          !(within.fields.empty() && within.conflicts.empty()) &&
          !rule.rules.completed();
      CHECK(!within.changes || !field.is_map()) << field.full_name();
      rule.is_changed_within = within.changes;
    }
    rule.is_changed = IsChanged(field, rule.rules);
    rules.changes |= rule.is_changed_within || rule.is_changed;
    if (rule.has_rules || rule.is_checked_within || !rule.product.empty()) {
      rules.fields.push_back(std::move(rule));
    }
  }
  for (const FieldRule& text : rules.fields) {
    for (FieldRule& number : rules.fields) {
      if (number.field == text.number) number.text = text.field;
    }
  }
  return rules;
}

// ---- Whether conditions hold ------------------------------------------------

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

const FieldDescriptor* ListOf(const FieldDescriptor& reference) {
  return DistributedSystemDescription::descriptor()->FindFieldByName(
      reference.options().GetExtension(distbench::rules).refers_to());
}

const FieldDescriptor* SameAs(const FieldDescriptor& field) {
  const Descriptor& type = *field.containing_type();
  const auto number_of = [](const FieldDescriptor& text) -> const std::string& {
    return text.options().GetExtension(distbench::rules).text_of();
  };
  for (int i = 0; i < type.field_count(); ++i) {
    if (number_of(*type.field(i)) == field.name()) return type.field(i);
  }
  return type.FindFieldByName(number_of(field));
}

const Descriptor* MessagesOf(const FieldDescriptor& field) {
  const Descriptor* const type = field.message_type();
  return field.is_map() ? type->map_value()->message_type() : type;
}

const TypeRules& RulesOf(const Descriptor* type) {
  static const auto* const all = [] {
    auto* const types = new AllRules;
    AddType(DistributedSystemDescription::descriptor(), *types);
    return types;
  }();
  const auto found = all->find(type);
  if (found != all->end()) return found->second;
  // Made when somebody asks for them. They stay where they are.
  static absl::Mutex mutex;
  static auto* const others = new AllRules;
  absl::MutexLock lock(&mutex);
  return AddType(type, *others);
}

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
