#include "distbench/products/protection/resumption.h"

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/products/protection/capacity.h"
#include "distbench/products/protection/testing/example_experiment.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kLoad = 200;

ExperimentPlan PlanThatSearches() {
  return ExamplePlan("subject { loads: '80%' objective: 'p99<=20ms' }");
}

// An experiment that ended in the search for its capacity, after a probe.
TestSequenceResults InSearch(const ExperimentPlan& plan) {
  TestSequenceResults results;
  *results.add_experiments() = NewReport(plan);
  const absl::StatusOr<search::SearchPlan> search = PlanCapacitySearch(plan);
  EXPECT_TRUE(search.ok()) << search.status();
  SearchReport& report = *results.add_searches();
  *report.mutable_search() = search->spec;
  SearchProbe& probe = *report.add_probes();
  probe.set_requested_load(kLoad);
  probe.set_achieved_load(kLoad);
  const auto test = search::ProbeTest(
      *search, kLoad,
      {.warmup = absl::Seconds(1), .measured = absl::Seconds(10)});
  EXPECT_TRUE(test.ok()) << test.status();
  *results.add_test_results()->mutable_traffic_config() = *test;
  return results;
}

std::string Refusal(const ExperimentPlan& plan,
                    const TestSequenceResults& results) {
  return std::string(CheckExperimentResumable(plan, results).message());
}

TEST(ResumeSearchTest, GoesOnWithTheSameTest) {
  EXPECT_EQ(Refusal(PlanThatSearches(), InSearch(PlanThatSearches())), "");
}

// The capacity of another test would be the load of every cell.
TEST(ResumeSearchTest, RefusesAnotherTest) {
  ExperimentPlan other = PlanThatSearches();
  other.subject.mutable_rpc_descriptions(0)->set_deadline_us(5);
  TestSequenceResults results = InSearch(PlanThatSearches());
  EXPECT_THAT(Refusal(other, results),
              AllOf(HasSubstr("another test"), HasSubstr("deadline_us")));
  // Also when the search has ended.
  results.mutable_searches(0)->set_verdict("converged");
  results.mutable_experiments(0)->set_capacity_per_second(350);
  EXPECT_THAT(Refusal(other, results), HasSubstr("another test"));
}

TEST(ResumeSearchTest, ARunOfTheSearchIsNoCell) {
  TestSequenceResults results = InSearch(PlanThatSearches());
  EXPECT_FALSE(HasCells(results));
  EXPECT_EQ(WorkersOf(results), 2);
  results.add_test_results()->mutable_experiment_cell();
  EXPECT_TRUE(HasCells(results));
}

}  // namespace
}  // namespace distbench::protection
