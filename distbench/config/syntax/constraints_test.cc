// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/constraints.h"

#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

bool ConstraintMatches(const std::string& text, const Attributes& attributes) {
  return Matches(base::FromText<Constraint>(text), attributes);
}

TEST(Constraint, ComparesWithAnyOfItsValues) {
  const std::string rack =
      "attribute_name: 'rack' relation: EQUAL string_values: ['a', 'b']"
      "int64_values: 7";
  EXPECT_TRUE(ConstraintMatches(rack, {{"rack", "a"}}));
  EXPECT_TRUE(ConstraintMatches(rack, {{"rack", "b"}}));
  EXPECT_TRUE(ConstraintMatches(rack, {{"rack", "7"}}));
  EXPECT_FALSE(ConstraintMatches(rack, {{"rack", "c"}}));
  EXPECT_FALSE(ConstraintMatches(rack, {{"rack", "8"}}));
}

TEST(Constraint, ComparesIntegersByValueAndStringsByText) {
  const std::string by_value =
      "attribute_name: 'n' relation: EQUAL int64_values: 7";
  EXPECT_TRUE(ConstraintMatches(by_value, {{"n", "07"}}));
  EXPECT_FALSE(ConstraintMatches(by_value, {{"n", "7x"}}));
  EXPECT_FALSE(ConstraintMatches(by_value, {{"n", ""}}));
  EXPECT_FALSE(ConstraintMatches(
      "attribute_name: 'n' relation: EQUAL string_values: '7'", {{"n", "07"}}));
}

TEST(Constraint, NotEqualNeedsTheAttribute) {
  const std::string text =
      "attribute_name: 'n' relation: NOT_EQUAL int64_values: 7";
  EXPECT_TRUE(ConstraintMatches(text, {{"n", "8"}}));
  EXPECT_FALSE(ConstraintMatches(text, {{"n", "7"}}));
  EXPECT_FALSE(ConstraintMatches(text, {{"m", "8"}}));
  EXPECT_FALSE(ConstraintMatches(text, {{"n", "eight"}}));
  EXPECT_TRUE(ConstraintMatches(
      "attribute_name: 'n' relation: NOT_EQUAL string_values: 'a'",
      {{"n", "b"}}));
}

TEST(Constraint, ComparesRemainders) {
  const std::string odd =
      "attribute_name: 'n' relation: MODULO_EQUAL modulus: 2 int64_values: 1";
  EXPECT_TRUE(ConstraintMatches(odd, {{"n", "3"}}));
  EXPECT_TRUE(ConstraintMatches(odd, {{"n", "-3"}}));
  EXPECT_FALSE(ConstraintMatches(odd, {{"n", "4"}}));
  const std::string not_zero =
      "attribute_name: 'n' relation: MODULO_NOT_EQUAL modulus: 3 "
      "int64_values: 0";
  EXPECT_TRUE(ConstraintMatches(not_zero, {{"n", "4"}}));
  EXPECT_FALSE(ConstraintMatches(not_zero, {{"n", "6"}}));
  EXPECT_FALSE(ConstraintMatches(not_zero, {{"m", "4"}}));
}

TEST(Constraint, ModulusZeroMatchesNothing) {
  EXPECT_FALSE(ConstraintMatches(
      "attribute_name: 'n' relation: MODULO_EQUAL int64_values: 0",
      {{"n", "0"}}));
  EXPECT_FALSE(ConstraintMatches(
      "attribute_name: 'n' relation: MODULO_NOT_EQUAL int64_values: 1",
      {{"n", "0"}}));
}

TEST(Constraint, WithoutRelationMatchesNothing) {
  EXPECT_FALSE(
      ConstraintMatches("attribute_name: 'n' int64_values: 0", {{"n", "0"}}));
}

constexpr char kRackAndSlot[] = R"(
  constraint_sets {
    constraints {
      attribute_name: 'rack' relation: EQUAL string_values: ['a', 'b']
    }
    constraints { attribute_name: 'spare' relation: EQUAL string_values: 'y' }
  }
  constraint_sets {
    constraints {
      attribute_name: 'slot' relation: MODULO_EQUAL modulus: 2 int64_values: 0
    }
  })";

TEST(ConstraintList, NeedsOneConstraintOfEverySet) {
  const auto list = base::FromText<ConstraintList>(kRackAndSlot);
  EXPECT_TRUE(Matches(list, {{"rack", "a"}, {"slot", "4"}}));
  EXPECT_TRUE(Matches(list, {{"spare", "y"}, {"slot", "4"}}));
  EXPECT_FALSE(Matches(list, {{"rack", "a"}, {"slot", "5"}}));
  EXPECT_FALSE(Matches(list, {{"rack", "c"}, {"slot", "4"}}));
  EXPECT_FALSE(Matches(list, {}));
}

TEST(ConstraintList, EmptyListMatchesAndEmptySetDoesNot) {
  EXPECT_TRUE(Matches(ConstraintList(), {}));
  EXPECT_FALSE(Matches(base::FromText<ConstraintList>("constraint_sets {}"),
                       {{"rack", "a"}}));
}

TEST(ExplainMismatch, TellsTheFirstSetThatFails) {
  const auto list = base::FromText<ConstraintList>(kRackAndSlot);
  EXPECT_EQ(ExplainMismatch(list, {{"rack", "a"}, {"slot", "4"}}),
            std::nullopt);
  EXPECT_THAT(ExplainMismatch(list, {{"rack", "c"}, {"slot", "5"}}),
              Optional(std::string(
                  "needs rack = \"a\" or \"b\" or spare = \"y\", but rack is "
                  "\"c\", there is no spare")));
  EXPECT_THAT(ExplainMismatch(list, {{"rack", "a"}, {"slot", "5"}}),
              Optional(std::string("needs slot % 2 = 0, but slot is \"5\"")));
  EXPECT_THAT(
      ExplainMismatch(base::FromText<ConstraintList>("constraint_sets {}"), {}),
      Optional(std::string("constraint_sets[0] is empty")));
}

TEST(Globs, DoNotMatchAcrossSlashes) {
  EXPECT_TRUE(IsGlob("client/*"));
  EXPECT_FALSE(IsGlob("client/0"));
  EXPECT_TRUE(GlobMatches("client/*", "client/10"));
  EXPECT_TRUE(GlobMatches("c*/1?", "client/10"));
  EXPECT_TRUE(GlobMatches("torus/*/1", "torus/4/1"));
  EXPECT_FALSE(GlobMatches("torus/*", "torus/4/1"));
  EXPECT_FALSE(GlobMatches("client/*", "clients/0"));
}

TEST(ConstraintsOf, OwnNameBeatsGlobsAndGlobsAdd) {
  const auto test = base::FromText<DistributedSystemDescription>(R"(
    service_constraints { key: 'client/0' value {} }
    service_constraints { key: 'client/*' value {} }
    service_constraints { key: '*/1' value {} })");
  const auto& all = test.service_constraints();
  EXPECT_THAT(ConstraintsOf(test, "client/0"),
              ElementsAre(&all.at("client/0")));
  EXPECT_THAT(ConstraintsOf(test, "client/1"),
              ElementsAre(&all.at("*/1"), &all.at("client/*")));
  EXPECT_THAT(ConstraintsOf(test, "client/2"),
              ElementsAre(&all.at("client/*")));
  EXPECT_THAT(ConstraintsOf(test, "server/0"), IsEmpty());
}

}  // namespace
}  // namespace distbench::config
