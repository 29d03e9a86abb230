// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/knobs/knob.h"

#include <memory>
#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// Two services with two instances each that send in their main lists, and a
// nested open loop.
DistributedSystemDescription LoopTest(const std::string& iterations) {
  return base::FromText<DistributedSystemDescription>(
      R"(name: "t"
         services { name: "client" count: 2 }
         services { name: "other" count: 2 }
         services { name: "server" count: 5 }
         payload_descriptions { name: "blob" size: 1000 }
         payload_descriptions {
           name: "drawn" size_distribution_name: "sizes"
         }
         rpc_descriptions {
           name: "query" client: "client" client: "other" server: "server"
           fanout_filter: "stochastic{1:2}"
         }
         rpc_descriptions {
           name: "all" client: "client" server: "server"
         }
         action_lists { name: "client" action_names: "send" }
         action_lists { name: "other" action_names: "send" }
         action_lists { name: "query" action_names: "burst" }
         actions { name: "burst" iterations { open_loop_interval_ns: 5000 } }
         actions { name: "send" rpc_name: "query" iterations { )" +
      iterations + "} }");
}

constexpr ProbeTiming kTiming = {.warmup = absl::Seconds(1),
                                 .measured = absl::Seconds(4)};

absl::StatusOr<std::unique_ptr<Knob>> Make(
    const std::string& name, const DistributedSystemDescription& test) {
  const absl::StatusOr<KnobName> parsed = ParseKnobName(name);
  if (!parsed.ok()) return parsed.status();
  return MakeKnob(*parsed, test);
}

std::string ErrorOf(const std::string& name,
                    const DistributedSystemDescription& test) {
  return std::string(Make(name, test).status().message());
}

TEST(RateKnobTest, AddsUpWhatTheInstancesOfMainListsSend) {
  const auto knob = Make("rate", LoopTest("open_loop_interval_ns: 1000000"));
  ASSERT_TRUE(knob.ok()) << knob.status();
  EXPECT_DOUBLE_EQ((*knob)->base_load(), 4000);
  EXPECT_FALSE((*knob)->is_whole());
}

// A rate that varies has its mean over the probe.
TEST(RateKnobTest, OfComposedArrivalsIsTheMeanRate) {
  const auto knob = Make(
      "rate",
      LoopTest("open_loop_interval_ns: 1000000 max_duration_us: 10000000 "
               "arrivals { modulations { schedule { segments { duration_ns: "
               "10000000000 factor: 0 to_factor: 2 } } } }"));
  ASSERT_TRUE(knob.ok()) << knob.status();
  EXPECT_DOUBLE_EQ((*knob)->base_load(), 4000);
  // Of the first five seconds, whose mean factor is a half.
  const auto test = (*knob)->At(1000, kTiming);
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_EQ(test->actions(1).iterations().open_loop_interval_ns(), 2'000'000);
}

TEST(RateKnobTest, NeedsArrivals) {
  EXPECT_THAT(
      ErrorOf("rate", LoopTest("open_loop_interval_ns: 1000000 arrivals { "
                               "modulations { schedule { segments { "
                               "duration_ns: 1000 factor: 1 to_factor: 0 } } "
                               "} }")),
      HasSubstr("mean rate of 0"));
}

TEST(RateKnobTest, ScalesEveryOpenLoopAndSetsHowLongItRuns) {
  const auto knob = Make(
      "rate", LoopTest("open_loop_interval_ns: 1000000 max_iteration_count: 7 "
                       "warmup_iterations: 3"));
  ASSERT_TRUE(knob.ok()) << knob.status();
  const auto scaled = (*knob)->At(8000, kTiming);
  ASSERT_TRUE(scaled.ok()) << scaled.status();
  const Iterations& nested = scaled->actions(0).iterations();
  EXPECT_EQ(nested.open_loop_interval_ns(), 2500);
  EXPECT_FALSE(nested.has_max_duration_us());
  const Iterations& main = scaled->actions(1).iterations();
  EXPECT_EQ(main.open_loop_interval_ns(), 500'000);
  EXPECT_EQ(main.max_duration_us(), 5'000'000);
  EXPECT_EQ(main.warmup_ns(), 1'000'000'000);
  EXPECT_FALSE(main.has_max_iteration_count());
  EXPECT_FALSE(main.has_warmup_iterations());
  EXPECT_EQ(scaled->attributes().at("test_timeout"), "65");
}

TEST(RateKnobTest, RefusesATestWithoutARate) {
  EXPECT_THAT(ErrorOf("rate", LoopTest("max_parallel_iterations: 10")),
              HasSubstr("open_loop_interval_ns"));
}

TEST(ConcurrencyKnobTest, SetsWhatClosedLoopsHaveInFlight) {
  const auto knob =
      Make("concurrency",
           LoopTest("max_parallel_iterations: 10 max_iteration_count: 50"));
  ASSERT_TRUE(knob.ok()) << knob.status();
  EXPECT_EQ((*knob)->base_load(), 10);
  EXPECT_TRUE((*knob)->is_whole());
  const auto turned = (*knob)->At(33, kTiming);
  ASSERT_TRUE(turned.ok()) << turned.status();
  const Iterations& main = turned->actions(1).iterations();
  EXPECT_EQ(main.max_parallel_iterations(), 33);
  EXPECT_FALSE(main.has_max_iteration_count());
  EXPECT_EQ(main.max_duration_us(), 5'000'000);
}

TEST(ConcurrencyKnobTest, TurnsTheCapOfAnOpenLoopThatIsNamed) {
  const auto test = LoopTest("open_loop_interval_ns: 1000000");
  EXPECT_THAT(ErrorOf("concurrency", test), HasSubstr("no concurrency"));
  EXPECT_THAT(ErrorOf("concurrency:sent", test), HasSubstr("\"send\""));
  const auto knob = Make("concurrency:send", test);
  ASSERT_TRUE(knob.ok()) << knob.status();
  const auto turned = (*knob)->At(3, kTiming);
  ASSERT_TRUE(turned.ok()) << turned.status();
  EXPECT_EQ(turned->actions(1).iterations().max_parallel_iterations(), 3);
  EXPECT_EQ(turned->actions(1).iterations().open_loop_interval_ns(), 1000000);
}

TEST(PayloadKnobTest, SetsASize) {
  const auto test = LoopTest("max_iteration_count: 50");
  const auto knob = Make("payload:blob", test);
  ASSERT_TRUE(knob.ok()) << knob.status();
  EXPECT_EQ((*knob)->base_load(), 1000);
  const auto turned = (*knob)->At(4096, kTiming);
  ASSERT_TRUE(turned.ok()) << turned.status();
  EXPECT_EQ(turned->payload_descriptions(0).size(), 4096);
  // A closed loop lasts for the whole probe if it is the only one.
  EXPECT_EQ(turned->actions(1).iterations().max_duration_us(), 5'000'000);
  EXPECT_THAT(ErrorOf("payload:blub", test), HasSubstr("\"blob\""));
  EXPECT_THAT(ErrorOf("payload:drawn", test), HasSubstr("distribution"));
}

TEST(FanoutKnobTest, SetsTheNumberOfTargets) {
  const auto test = LoopTest("max_duration_us: 50");
  const auto knob = Make("fanout:query", test);
  ASSERT_TRUE(knob.ok()) << knob.status();
  EXPECT_EQ((*knob)->base_load(), 2);
  EXPECT_EQ((*knob)->max_load(), 5);
  const auto turned = (*knob)->At(4, kTiming);
  ASSERT_TRUE(turned.ok()) << turned.status();
  EXPECT_EQ(turned->rpc_descriptions(0).fanout_filter(), "stochastic{1:4}");
  EXPECT_THAT(ErrorOf("fanout:all", test), HasSubstr("stochastic{1:N}"));
  EXPECT_THAT(ErrorOf("fanout:quary", test), HasSubstr("\"query\""));
}

TEST(BuilderKnobTest, MakesATestForEachLoad) {
  const auto knob =
      Make("builder:multi_level_rpc:qps=200:leaf_count=3:leaf_count", {});
  ASSERT_TRUE(knob.ok()) << knob.status();
  EXPECT_EQ((*knob)->base_load(), 3);
  EXPECT_TRUE((*knob)->is_whole());
  EXPECT_EQ((*knob)->unit(), "leaf_count");
  const auto test = (*knob)->At(7, kTiming);
  ASSERT_TRUE(test.ok()) << test.status();
  int leaves = 0;
  for (const ServiceSpec& service : test->services()) {
    if (service.name() == "leaf") leaves = service.count();
  }
  EXPECT_EQ(leaves, 7);
  EXPECT_EQ(test->attributes().at("test_timeout"), "65");
  TestSequence sequence;
  *sequence.add_tests() = *test;
  EXPECT_TRUE(config::CheckTestSequence(sequence).ok());
}

TEST(BuilderKnobTest, SaysWhatThereIsToTurn) {
  EXPECT_THAT(ErrorOf("builder:client_server:no_such", {}),
              HasSubstr("client_count"));
  EXPECT_THAT(ErrorOf("builder:client_servr:client_count", {}),
              HasSubstr("client_server"));
  EXPECT_THAT(
      ErrorOf("builder:client_server:client_count=1,2:server_count", {}),
      HasSubstr("2 tests"));
}

TEST(ControlKnobTest, NeedsTheProductThatKnowsControls) {
  EXPECT_THAT(ErrorOf("control:on:cpu_weight", LoopTest("")),
              HasSubstr("built without"));
}

TEST(KnobNameTest, ListsThoseThatATestHas) {
  EXPECT_THAT(KnobsOf(LoopTest("open_loop_interval_ns: 1000000")),
              UnorderedElementsAre("rate", "concurrency:send", "payload:blob",
                                   "fanout:query"));
  EXPECT_THAT(KnobsOf(LoopTest("max_parallel_iterations: 2")),
              UnorderedElementsAre("concurrency", "concurrency:send",
                                   "payload:blob", "fanout:query"));
}

TEST(KnobNameTest, SaysWhichKnobsThereAre) {
  for (const char* name :
       {"", "rat", "payload", "payload:", "builder:x", "builder::x",
        "concurrency:", "control:on", "control:on:", "control::cpu_weight"}) {
    EXPECT_THAT(ErrorOf(name, LoopTest("")), HasSubstr("payload:NAME")) << name;
  }
  EXPECT_THAT(ErrorOf("concurency:send", LoopTest("")),
              HasSubstr("did you mean \"concurrency\"? knobs are"));
  EXPECT_THAT(ErrorOf("payload", LoopTest("")), Not(HasSubstr("did you mean")));
}

}  // namespace
}  // namespace distbench::search
