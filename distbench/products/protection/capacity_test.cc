#include "distbench/products/protection/capacity.h"

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/products/protection/testing/example_experiment.h"
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

// A search that has ended does not run again.
TestSequenceResults Ended(const search::SearchPlan& search,
                          const std::string& verdict, double load) {
  TestSequenceResults results;
  SearchReport& report = *results.add_searches();
  *report.mutable_search() = search.spec;
  report.set_verdict(verdict);
  report.set_evidence("as it was");
  if (load > 0) report.set_load(load);
  return results;
}

TEST(CapacityTest, IsTheRateOfTheRpcAtTheSearchedLoad) {
  const ExperimentPlan plan = SharesOfCapacity();
  const search::SearchPlan search = SearchOf(plan);
  TestSequenceResults results = Ended(search, "converged", 350);
  const auto capacity = FindCapacity(plan, search, {}, results);
  ASSERT_TRUE(capacity.ok()) << capacity.status();
  EXPECT_DOUBLE_EQ(*capacity, 350);
}

TEST(CapacityTest, IsNotGuessedFromASearchWithoutAnAnswer) {
  const ExperimentPlan plan = SharesOfCapacity();
  const search::SearchPlan search = SearchOf(plan);
  for (const char* verdict : {"objective_unreachable", "unstable"}) {
    TestSequenceResults results = Ended(search, verdict, 0);
    const auto capacity = FindCapacity(plan, search, {}, results);
    EXPECT_TRUE(absl::IsFailedPrecondition(capacity.status()));
    EXPECT_THAT(std::string(capacity.status().message()), HasSubstr(verdict));
    EXPECT_THAT(std::string(capacity.status().message()),
                HasSubstr("Give experiment.subject.capacity"));
  }
}

}  // namespace
}  // namespace distbench::protection
