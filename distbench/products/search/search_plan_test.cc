// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/search_plan.h"

#include <string>
#include <utility>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

DistributedSystemDescription MakeTest() {
  return base::FromText<DistributedSystemDescription>(
      R"(services { name: "client" count: 1 x_size: 1 }
         services { name: "server" count: 1 x_size: 1 }
         payload_descriptions { name: "p" size: 100 }
         rpc_descriptions {
           name: "query" client: "client" server: "server"
           request_payload_name: "p"
         }
         action_lists { name: "client" action_names: "send" }
         action_lists { name: "query" }
         actions {
           name: "send" rpc_name: "query"
           iterations { open_loop_interval_ns: 10000000 }
         }
         search {
           objectives: "query p95<=1ms" tolerance: 0.05 initial_load: 50
         })");
}

constexpr auto Spec = base::FromText<LoadSearchSpec>;

std::string ErrorOf(const std::string& spec) {
  return std::string(PlanSearch(Spec(spec), MakeTest()).status().message());
}

TEST(PlanSearchTest, TakesTheConfigsSearchAndFillsInTheRest) {
  const auto plan = PlanSearch({}, MakeTest());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->options.initial_load, 50);
  EXPECT_EQ(plan->options.tolerance, 0.05);
  EXPECT_EQ(plan->options.max_probes, 25);
  EXPECT_EQ(plan->spec.knob(), "rate");
  EXPECT_EQ(plan->spec.final_duration_us(), 60'000'000);
  EXPECT_THAT(plan->spec.objectives(), ElementsAre("query p95<=1ms"));
}

TEST(PlanSearchTest, WhatIsGivenWins) {
  const auto plan = PlanSearch(
      Spec("objectives: 'cpu<=50%' knob: 'payload:p' max_load: 4000.5 "
           "initial_load: 20"),
      MakeTest());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->spec.objectives(), ElementsAre("cpu<=50%"));
  EXPECT_TRUE(plan->options.is_whole);
  EXPECT_EQ(plan->options.initial_load, 20);
  EXPECT_EQ(plan->options.max_load, 4000);
  EXPECT_EQ(plan->options.tolerance, 0.05);
}

TEST(PlanSearchTest, SaysWhatDoesNotFit) {
  EXPECT_THAT(ErrorOf("objectives: 'quary p95<=1ms'"), HasSubstr("\"query\""));
  EXPECT_THAT(ErrorOf("knob: 'speed'"), HasSubstr("is not a knob"));
  EXPECT_THAT(ErrorOf("min_load: 10 max_load: 5"),
              HasSubstr("no load from 10"));
  EXPECT_THAT(ErrorOf("max_load: 1e11"), HasSubstr("out of range"));
  DistributedSystemDescription test = MakeTest();
  test.clear_search();
  EXPECT_THAT(std::string(PlanSearch({}, test).status().message()),
              HasSubstr("--slo"));
}

TEST(PlanSearchTest, InstancesShareARate) {
  const auto plan = PlanSearch(Spec("initial_load: 400"), MakeTest(), 4);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto test = ProbeTest(*plan, 400, {.measured = absl::Seconds(1)});
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_EQ(test->services_size(), 8);
  // 100 per second each.
  EXPECT_EQ(test->actions(3).iterations().open_loop_interval_ns(), 10'000'000);

  DistributedSystemDescription unspoken = MakeTest();
  unspoken.mutable_search()->clear_initial_load();
  EXPECT_EQ(PlanSearch({}, unspoken, 4)->options.initial_load, 400);
}

// The RPCs of copies have other names than those in the test's objectives.
TEST(PlanSearchTest, CopiesMayHaveObjectives) {
  DistributedSystemDescription test = MakeTest();
  test.add_objectives("query p99<=5ms");
  const auto plan = PlanSearch(Spec("initial_load: 400"), test, 2);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->test.objectives_size(), 1);
  const auto all = ProbeTest(*plan, 400, {.measured = absl::Seconds(1)});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->objectives_size(), 0);
}

TEST(RunLoadsTest, LoadsAreThoseOfTheKnob) {
  const auto error = [](const std::string& spec, std::vector<double> loads) {
    auto plan = PlanSearch(Spec(spec), MakeTest());
    EXPECT_TRUE(plan.ok()) << plan.status();
    return std::string(RunLoads(std::move(loads), *plan).message());
  };
  EXPECT_EQ(error("", {0.5, 300}), "");
  EXPECT_THAT(error("knob: 'payload:p' initial_load: 20", {7, 1.5}),
              HasSubstr("1.5 is no load of the knob payload:p, whose loads are "
                        "whole numbers"));
  EXPECT_THAT(error("", {1e10}), HasSubstr("from 0.001 to 1000000000"));
}

// Each once, for as long as was asked for.
TEST(ProbeTimeTest, LoadsOfAListAreNotLonger) {
  SearchPlan plan = {.objectives = {*config::ParseObjective("p99<=1s")},
                     .timing = {.final_run = absl::Seconds(3)}};
  const ProbeRequest request = {.phase = ProbePhase::kFinal};
  EXPECT_EQ(ProbeTime(plan, request, 20), absl::Seconds(30));
  plan.loads = {20};
  EXPECT_EQ(ProbeTime(plan, request, 20), absl::Seconds(3));
}

TEST(ProbeTimeTest, GrowsUntilTheTailHasSamples) {
  const auto time = [&](double rate, const std::string& objective) {
    SearchPlan plan = {
        .objectives = {*config::ParseObjective(objective)},
        .timing = {.probe = absl::Seconds(10), .min_tail_samples = 100}};
    return ProbeTime(plan, {.phase = ProbePhase::kRefine}, rate);
  };
  EXPECT_EQ(time(1e6, "p99<=1s"), absl::Seconds(10));
  EXPECT_NEAR(absl::ToDoubleSeconds(time(500, "p99<=1s")), 20, 0.01);
  EXPECT_EQ(time(1, "p99<=1s"), absl::Seconds(100));  // the maximum
  EXPECT_EQ(time(1, "failures<=1%"), absl::Seconds(10));
  EXPECT_EQ(time(0, "p99<=1s"), absl::Seconds(10));  // unknown so far
}

}  // namespace
}  // namespace distbench::search
