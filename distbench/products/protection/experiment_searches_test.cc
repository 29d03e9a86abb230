// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment_searches.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/protection/testing/example_experiment.h"
#include "distbench/products/search/testing/simulated_queue.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ExperimentPlan SharesOfCapacity() {
  return ExamplePlan("subject { loads: '80%' objective: 'p99<=20ms' }");
}

search::SearchPlan SearchOf(const ExperimentPlan& plan) {
  absl::StatusOr<search::SearchPlan> search = PlanCapacitySearch(plan);
  EXPECT_TRUE(search.ok()) << search.status();
  return search.ok() ? *std::move(search) : search::SearchPlan();
}

TEST(CapacityTest, IsNeededForSharesOnly) {
  EXPECT_TRUE(NeedsCapacity(SharesOfCapacity()));
  EXPECT_FALSE(NeedsCapacity(ExamplePlan("subject { loads: '80/s' }")));
  EXPECT_FALSE(NeedsCapacity(ExamplePlan()));
}

TEST(CapacityTest, IsSearchedForWithTheSubjectsObjective) {
  const ExperimentPlan plan = SharesOfCapacity();
  const search::SearchPlan search = SearchOf(plan);
  EXPECT_THAT(search.spec.objectives(), ElementsAre("query p99<=20ms"));
  EXPECT_EQ(search.spec.knob(), "rate");
  EXPECT_DOUBLE_EQ(search.options.initial_load, 100);
}

TEST(CapacityTest, ProbesHaveArrivalsOfTheirOwnUnlessTheTestHasASeed) {
  ExperimentPlan plan = SharesOfCapacity();
  const auto probe_of = [&] {
    return SearchOf(plan).knob->At(
        100, {.warmup = absl::Seconds(1), .measured = absl::Seconds(10)});
  };
  ASSERT_TRUE(probe_of().ok());
  EXPECT_FALSE(probe_of()->has_random_seed());
  plan.has_own_seed = true;
  EXPECT_EQ(probe_of()->random_seed(), 7u);
}

TEST(CapacityTest, TheTestsSearchSettingsAreUsedIfTheyAreForTheRate) {
  ExperimentPlan plan = SharesOfCapacity();
  plan.subject.mutable_search()->set_max_probes(9);
  EXPECT_EQ(SearchOf(plan).options.max_probes, 9);
  plan.subject.mutable_search()->set_knob("concurrency");
  EXPECT_NE(SearchOf(plan).options.max_probes, 9);
}

SearchReport Ended(const std::string& verdict, double load) {
  SearchReport report;
  report.set_verdict(verdict);
  report.set_evidence("as it was");
  if (load > 0) report.set_load(load);
  return report;
}

TEST(CapacityTest, IsTheRateOfTheRpcAtTheSearchedLoad) {
  const ExperimentPlan plan = SharesOfCapacity();
  const auto capacity =
      CapacityOf(plan, SearchOf(plan), Ended("converged", 350));
  ASSERT_TRUE(capacity.ok()) << capacity.status();
  EXPECT_DOUBLE_EQ(*capacity, 350);
}

TEST(CapacityTest, IsNotGuessedFromASearchWithoutAnAnswer) {
  const ExperimentPlan plan = SharesOfCapacity();
  for (const char* verdict : {"objective_unreachable", "unstable"}) {
    const absl::Status status =
        CapacityOf(plan, SearchOf(plan), Ended(verdict, 0)).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr(verdict));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("experiment.subject.capacity"));
  }
}

DistributedSystemDescription MakeTest(const std::string& antagonists,
                                      const std::string& search) {
  TestSequence sequence;
  DistributedSystemDescription& test = *sequence.add_tests();
  test = search::SimulatedTest(10'000'000);
  test.set_name("shop");
  test.MergeFrom(base::FromText<DistributedSystemDescription>(absl::StrCat(
      R"(activity_configs {
           name: "burn"
           activity_settings { name: "activity_func" string_value: "ConsumeCpu" }
           activity_settings { name: "array_size" int64_value: 1000 }
         }
         experiment {
           subject { rpc: "query" loads: "80%" objective: "p99<=20ms" }
           phases { flat_over: "5s" baseline: "4s" interfere: "30s" }
           controls { name: "off" }
           controls {
             name: "on"
             groups { services: "server" cpu_weight: 100 }
             groups { services: "antagonist_*" cpu_max: "1" }
           } )",
      antagonists, "} search {", search, "}")));
  absl::StatusOr<TestSequence> checked = config::CheckTestSequence(sequence);
  EXPECT_TRUE(checked.ok()) << checked.status();
  return checked.ok() ? checked->tests(0) : DistributedSystemDescription();
}

constexpr char kHog[] = "antagonists { name: 'hog' activity: 'burn' } ";
constexpr char kCat[] = "antagonists { name: 'cat' activity: 'burn' } ";

absl::StatusOr<search::SearchPlan> Plan(const std::string& antagonists,
                                        const std::string& search,
                                        const search::CellChoice& choice) {
  return PlanIsolationSearch({}, MakeTest(antagonists, search), choice, {});
}

TEST(PlanIsolationSearchTest, TakesTimesFromThePhases) {
  const auto plan =
      Plan(kHog, "objectives: 'isol_p05>=90%'", {.controls = "off"});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->timing.warmup, absl::Seconds(9));
  EXPECT_EQ(plan->timing.probe, absl::Seconds(30));
  EXPECT_EQ(plan->timing.final_run, absl::Seconds(30));
  const auto given = Plan(
      kHog,
      "objectives: 'isol_p05>=90%' probe_duration: '7s' final_duration: '8s'",
      {.controls = "off"});
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(given->timing.probe, absl::Seconds(7));
  EXPECT_EQ(given->timing.final_run, absl::Seconds(8));
}

TEST(PlanIsolationSearchTest, ProbesAreCells) {
  const auto plan =
      Plan(absl::StrCat(kHog, kCat),
           "objectives: 'isol_p05>=90%' knob: 'control:on:cpu_weight'",
           {.antagonist = "cat"});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->options.finds_lowest);
  const search::ProbeTiming timing = {.warmup = absl::Seconds(9),
                                      .measured = absl::Seconds(60)};
  const auto test = search::ProbeTest(*plan, 20, timing);
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_FALSE(test->has_experiment());
  EXPECT_FALSE(test->has_search());
  EXPECT_EQ(test->controls().name(), "on");
  EXPECT_EQ(test->controls().groups(0).cpu_weight(), 20);
  ASSERT_EQ(test->services_size(), 3);
  EXPECT_EQ(test->services(2).name(), "antagonist_cat");
  // The load is the test's own.
  EXPECT_EQ(test->actions(0).iterations().open_loop_interval_ns(), 10'000'000);
  EXPECT_EQ(test->actions(0).iterations().max_duration_us(), 69'000'000);
  EXPECT_EQ(test->actions(0).iterations().warmup_ns(), 0);
}

TEST(PlanIsolationSearchTest, LabelsResults) {
  const auto plan =
      Plan(kHog, "objectives: 'isol_p05>=90%'", {.controls = "on"});
  ASSERT_TRUE(plan.ok()) << plan.status();
  TestResult result;
  result.mutable_run_info()->set_start_timestamp_ns(1'000'000'000'000);
  plan->knob->Label({.warmup = absl::Seconds(9), .measured = absl::Seconds(30)},
                    result);
  EXPECT_EQ(result.experiment_cell().ShortDebugString(),
            base::FromText<ExperimentCell>(R"(
              controls: "on"
              antagonist: "hog"
              baseline_start_timestamp_ns: 1005000000000
              interfere_start_timestamp_ns: 1009000000000
              recover_start_timestamp_ns: 1039000000000
              end_timestamp_ns: 1039000000000)")
                .ShortDebugString());
}

TEST(PlanIsolationSearchTest, SaysWhatIsNotClear) {
  const std::string goodput = "objectives: 'isol_p05>=90%' ";
  const auto error = [](const absl::StatusOr<search::SearchPlan>& plan) {
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(plan.status().message());
  };
  EXPECT_THAT(error(Plan(kHog, goodput, {})),
              HasSubstr("choose one with --controls"));
  EXPECT_THAT(error(Plan(kHog, goodput, {.controls = "of"})),
              HasSubstr("did you mean \"off\"?"));
  EXPECT_THAT(
      error(Plan(absl::StrCat(kHog, kCat), goodput, {.controls = "on"})),
      HasSubstr("choose one with --antagonist"));
  EXPECT_THAT(error(Plan(kHog, goodput + "knob: 'control:on:cpu_weight'",
                         {.controls = "off"})),
              HasSubstr("varies other controls"));
  // Neither probes nor the final run would see all of the antagonist.
  for (const char* times : {"probe_duration: '7s'", "final_duration: '7s'"}) {
    EXPECT_THAT(error(Plan("antagonists { name: 'hog' activity: 'burn' "
                           "threads: 2 ramp: '8s' }",
                           goodput + times, {.controls = "on"})),
                HasSubstr("hog has a ramp of 8s, and would work for only 7s"));
  }
  EXPECT_THAT(error(Plan("antagonists { name: 'burst' activity: 'incast' "
                         "message_size: '1kB' rate: '6/min' }",
                         goodput + "probe_duration: '7s'", {.controls = "on"})),
              HasSubstr("a burst every 10s"));
  EXPECT_THAT(
      error(Plan(kHog, goodput + "warmup: '3s'", {.controls = "on"})),
      HasSubstr("a warm-up of 3s does not contain the experiment's baseline"));
}

}  // namespace
}  // namespace distbench::protection
