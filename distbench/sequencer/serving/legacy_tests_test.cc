// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/legacy_tests.h"

#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::Property;

constexpr char kGoodTest[] = R"(
  tests {
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    payload_descriptions { name: "small" size: 100 }
    rpc_descriptions {
      name: "query" client: "client" server: "server"
      request_payload_name: "small"
    }
    action_lists { name: "query" }
    action_lists { name: "client" action_names: "run" }
    actions { name: "run" rpc_name: "query" }
  })";

template <typename Matcher>
auto Warns(const Matcher& message) {
  return AllOf(Property(&Finding::severity, Finding::WARN),
               Property(&Finding::message, message));
}

TEST(AdaptLegacyTests, LeavesGoodTestsAlone) {
  auto sequence = base::FromText<TestSequence>(kGoodTest);
  const std::string before = sequence.DebugString();
  EXPECT_THAT(AdaptLegacyTests(sequence), IsEmpty());
  EXPECT_EQ(sequence.DebugString(), before);
}

TEST(AdaptLegacyTests, GivesTheDefaultSizeForUnknownPayloads) {
  auto sequence = base::FromText<TestSequence>(kGoodTest);
  *sequence.add_tests() = sequence.tests(0);
  RpcSpec& rpc = *sequence.mutable_tests(1)->mutable_rpc_descriptions(0);
  rpc.set_request_payload_name("smal");
  rpc.set_response_payload_name("large");
  EXPECT_FALSE(config::CheckTestSequence(sequence).ok());
  EXPECT_THAT(
      AdaptLegacyTests(sequence),
      ElementsAre(Pair(
          1, ElementsAre(
                 Warns(AllOf(HasSubstr("tests[1].rpc_descriptions[\"query\"]."
                                       "request_payload_name"),
                             HasSubstr("\"smal\""))),
                 Warns(HasSubstr("response_payload_name"))))));
  EXPECT_FALSE(rpc.has_request_payload_name());
  EXPECT_FALSE(rpc.has_response_payload_name());
  EXPECT_TRUE(config::CheckTestSequence(sequence).ok());
}

TEST(AdaptLegacyTests, AcceptsATestWithoutAMainList) {
  auto sequence = base::FromText<TestSequence>(R"(
    tests { services { name: "server" count: 2 } })");
  EXPECT_FALSE(config::CheckTestSequence(sequence).ok());
  EXPECT_THAT(
      AdaptLegacyTests(sequence),
      ElementsAre(Pair(0, ElementsAre(Warns(HasSubstr("sends nothing"))))));
  const auto checked = config::CheckTestSequence(sequence);
  EXPECT_TRUE(checked.ok()) << checked.status();
}

TEST(AdaptLegacyTests, InstructionCachesHaveNoArray) {
  auto sequence = base::FromText<TestSequence>(kGoodTest);
  auto* settings = sequence.mutable_tests(0)
                       ->add_activity_configs()
                       ->mutable_activity_settings();
  sequence.mutable_tests(0)->mutable_activity_configs(0)->set_name("pollute");
  *settings->Add() = base::FromText<NamedSetting>(
      R"(name: "activity_func" string_value: "PolluteDataCache")");
  *settings->Add() =
      base::FromText<NamedSetting>(R"(name: "array_size" int64_value: 100)");
  EXPECT_THAT(AdaptLegacyTests(sequence), IsEmpty());
  EXPECT_EQ(settings->size(), 2);
  settings->at(0).set_string_value("PolluteInstructionCache");
  EXPECT_THAT(AdaptLegacyTests(sequence),
              ElementsAre(Pair(
                  0, ElementsAre(Warns(HasSubstr("array_size is left out"))))));
  EXPECT_EQ(settings->size(), 1);
  EXPECT_TRUE(config::CheckTestSequence(sequence).ok());
}

// All else is refused as for distbench's own clients.
TEST(AdaptLegacyTests, DoesNotHideOtherProblems) {
  auto sequence =
      base::FromText<TestSequence>(R"(tests { name: "no services" })");
  AdaptLegacyTests(sequence);
  EXPECT_FALSE(config::CheckTestSequence(sequence).ok());
}

}  // namespace
}  // namespace distbench::sequencer
