// The rules of fields, as proto/*.proto has them: that they are sound, and
// agree with what the program knows besides.

#include "distbench/config/rules/field_rules.h"

#include <set>
#include <string>
#include <utility>

#include "distbench/config/rules/type_rules.h"
#include "distbench/config/syntax/words.h"
#include "distbench/config/validate/test_validation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::testing::ElementsAre;

FieldRules RulesOfField(const Descriptor* type, const std::string& field) {
  for (const FieldRule& rule : RulesOf(type).fields) {
    if (rule.field->name() == field) return rule.rules;
  }
  ADD_FAILURE() << type->name() << "." << field << " has no rules";
  return {};
}

void AddTypes(const Descriptor* type, std::set<const Descriptor*>& types) {
  if (!types.insert(type).second) return;
  for (int i = 0; i < type->field_count(); ++i) {
    if (type->field(i)->message_type() != nullptr) {
      AddTypes(type->field(i)->message_type(), types);
    }
  }
}

std::set<const Descriptor*> TypesOfTests() {
  std::set<const Descriptor*> types;
  AddTypes(DistributedSystemDescription::descriptor(), types);
  return types;
}

TEST(FieldRules, NameFieldsThatThereAre) {
  const Descriptor* const test = DistributedSystemDescription::descriptor();
  for (const Descriptor* type : TypesOfTests()) {
    for (const FieldRule& rule : RulesOf(type).fields) {
      for (const std::string& other :
           {rule.rules.text_of(), rule.rules.unless(), rule.rules.excludes(),
            rule.rules.not_with(), rule.rules.needs()}) {
        EXPECT_TRUE(other.empty() || type->FindFieldByName(other) != nullptr)
            << rule.field->full_name() << ": " << other;
      }
      if (!rule.rules.has_refers_to()) continue;
      const FieldDescriptor* const list =
          test->FindFieldByName(rule.rules.refers_to());
      ASSERT_NE(list, nullptr) << rule.field->full_name();
      EXPECT_FALSE(RulesOfField(test, list->name()).element().empty());
    }
  }
}

TEST(FieldRules, AreOfTheirTypesOfFields) {
  for (const Descriptor* type : TypesOfTests()) {
    for (const FieldRule& rule : RulesOf(type).fields) {
      const std::string& name = rule.field->full_name();
      const FieldRules& rules = rule.rules;
      const bool is_text =
          rule.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
      const bool is_fraction =
          rule.field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
      EXPECT_EQ(is_fraction && rule.has_rules,
                (rules.has_at_least() || rules.has_above()) &&
                    (rules.has_at_most() || rules.has_below()))
          << name;
      EXPECT_TRUE(is_text || (rules.words().empty() && !rules.has_text_of() &&
                              !rules.empty_is_default() &&
                              !rules.has_refers_to() && !rules.index_list()))
          << name;
      EXPECT_LE(rules.min(), rules.max()) << name;
      if (rule.number == nullptr) continue;
      EXPECT_EQ(rule.number->cpp_type(), FieldDescriptor::CPPTYPE_INT64);
    }
  }
}

TEST(FieldRules, AgreeWithConstants) {
  EXPECT_EQ(RulesOfField(PayloadSpec::descriptor(), "size").max(),
            kMaxSizeBytes);
  EXPECT_EQ(RulesOfField(ServiceSpec::descriptor(), "x_size").max(),
            kMaxInstances);
  EXPECT_EQ(
      RulesOfField(Iterations::descriptor(), "open_loop_interval_ns").max(),
      kMaxIntervalNs);
  EXPECT_EQ(RulesOfField(ControlSet::descriptor(), "name").max_length(),
            kMaxNameLength);
}

TEST(FieldRules, HaveTheWordsThatAreKnown) {
  const auto words = [](const Descriptor* type, const std::string& field) {
    const FieldRules rules = RulesOfField(type, field);
    EXPECT_FALSE(rules.words().empty());
    return rules.words();
  };
  for (const auto& word : words(CallPolicy::descriptor(), "load_balancing")) {
    EXPECT_TRUE(ParseLoadBalancing(word).has_value()) << word;
  }
  for (const auto& word : words(RetryPolicy::descriptor(), "jitter")) {
    EXPECT_TRUE(ParseJitter(word).has_value()) << word;
  }
  for (const auto& word : words(ConcurrencyLimitPolicy::descriptor(), "kind")) {
    EXPECT_TRUE(ParseLimitKind(word).has_value()) << word;
  }
  for (const auto& word : words(QuorumPolicy::descriptor(), "rest")) {
    EXPECT_TRUE(ParseRestOfQuorum(word).has_value()) << word;
  }
  for (const auto& word : words(StreamSpec::descriptor(), "response_starts")) {
    EXPECT_TRUE(ParseResponseStart(word).has_value()) << word;
  }
}

TEST(FieldRules, ReferencesNeedTheNamesOfATest) {
  Action action;
  action.set_rpc_name("query");
  Problems problems;
  CheckFields(action, Path("a"), nullptr, problems);
  EXPECT_EQ(problems.count(), 0);
  const TestNames names{DistributedSystemDescription()};
  CheckFields(action, Path("a"), &names, problems);
  EXPECT_THAT(std::move(problems).Take(),
              ElementsAre(Problem{
                  "a.rpc_name", "no RPC is named \"query\"; there are none"}));
}

TEST(FieldRules, DoNotReachIntoProducts) {
  DistributedSystemDescription test;
  test.mutable_search()->set_max_probes(0);
  test.mutable_search()->set_warmup("1s");
  const std::string before = test.SerializeAsString();
  CanonicalizeFields(test);
  EXPECT_EQ(test.SerializeAsString(), before);
  test.add_services()->set_count(1);
  Problems problems;
  CheckFields(test, Path(), nullptr, problems);
  EXPECT_EQ(problems.count(), 0);
  CheckFields(test.search(), Path(), nullptr, problems);
  EXPECT_EQ(problems.count(), 1);
}

}  // namespace
}  // namespace distbench::config
