#include "distbench/products/numa_compare/numa_comparison.h"

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::numa_compare {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

DeploymentPlan TwoDeployments() {
  DeploymentPlan plan;
  plan.deployments = {{.name = "one_unbound", .workers_per_instance = 4},
                      {.name = "bound", .instances = 2}};
  plan.omissions = {"no moon"};
  return plan;
}

TestSequenceResults Answer(const CapacityQuestion& question) {
  TestSequenceResults answer;
  SearchReport& search = *answer.add_searches();
  search.set_verdict("converged");
  search.set_load(question.number);
  answer.add_test_results();  // only the last run counts
  NodeResources& node = (*answer.add_test_results()
                              ->mutable_resource_usage_logs()
                              ->mutable_node_resources())["node1"];
  (*node.mutable_binding_proofs())["server/0"].set_cpu_migrations(
      question.number);
  return answer;
}

std::vector<std::string> Order(uint64_t seed, TestSequenceResults& results) {
  std::vector<std::string> order;
  const absl::Status status = RunNumaComparison(
      TwoDeployments(),
      {.latency_objective = "p99<=1ms", .repetitions = 3, .seed = seed},
      [&](const CapacityQuestion& question) {
        order.push_back(absl::StrCat(question.repetition,
                                     question.deployment->name,
                                     question.objective));
        return Answer(question);
      },
      results);
  EXPECT_EQ(status, absl::OkStatus());
  return order;
}

TEST(NumaComparisonTest, EachSearchRunsOnceInEachRepetition) {
  TestSequenceResults results;
  const std::vector<std::string> order = Order(1, results);
  EXPECT_EQ(std::set<std::string>(order.begin(), order.end()).size(), 12);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(order[i][0], '0' + i / 4);
  const NumaComparison& comparison = results.numa_comparison();
  EXPECT_THAT(comparison.omissions(), ElementsAre("no moon"));
  ASSERT_EQ(comparison.deployments_size(), 2);
  for (const NumaDeployment& deployment : comparison.deployments()) {
    EXPECT_THAT(deployment.cpu_target_searches(), SizeIs(3));
    EXPECT_THAT(deployment.objective_searches(), SizeIs(3));
    EXPECT_THAT(deployment.binding_proofs(), SizeIs(1));
  }
  EXPECT_EQ(comparison.deployments(0).workers_per_instance(), 4);
  ASSERT_EQ(results.test_results_size(), 12);
  EXPECT_EQ(results.test_results(11).run_info().repetition(), 2);
}

TEST(NumaComparisonTest, TheOrderIsTheSeeds) {
  TestSequenceResults first, again, other;
  const std::vector<std::string> order = Order(1, first);
  EXPECT_EQ(Order(1, again), order);
  EXPECT_NE(Order(2, other), order);
}

absl::Status RunUntil(const absl::Status& third, TestSequenceResults& results) {
  return RunNumaComparison(
      TwoDeployments(), {.repetitions = 2},
      [&](const CapacityQuestion& question)
          -> absl::StatusOr<TestSequenceResults> {
        if (question.number == 3) return third;
        return Answer(question);
      },
      results);
}

TEST(NumaComparisonTest, KeepsWhatWasFoundBeforeItWasCancelled) {
  TestSequenceResults results;
  EXPECT_TRUE(
      absl::IsCancelled(RunUntil(absl::CancelledError("stop"), results)));
  EXPECT_EQ(results.test_results_size(), 2);
}

TEST(NumaComparisonTest, ASearchThatFailsIsToldAndDoesNotEndTheOthers) {
  TestSequenceResults results;
  const absl::Status status =
      RunUntil(absl::UnavailableError("node0 was lost"), results);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("1 of 4 searches failed"));
  EXPECT_EQ(results.test_results_size(), 3);
  EXPECT_THAT(results.numa_comparison().omissions(),
              ElementsAre("no moon", HasSubstr("node0 was lost")));
  int failed_count = 0;
  for (const auto& deployment : results.numa_comparison().deployments()) {
    EXPECT_THAT(deployment.cpu_target_searches(), SizeIs(2));
    for (const SearchReport& search : deployment.cpu_target_searches()) {
      if (search.verdict() == kFailedVerdict) ++failed_count;
    }
  }
  EXPECT_EQ(failed_count, 1);
}

TEST(NumaComparisonTest, SaysThatEmulatedSpeedMeansNothing) {
  TestSequenceResults results;
  ASSERT_EQ(RunNumaComparison(
                TwoDeployments(), {.repetitions = 2},
                [&](const CapacityQuestion& question) {
                  TestSequenceResults answer = Answer(question);
                  (*answer.mutable_test_results(1)
                        ->mutable_resource_usage_logs()
                        ->mutable_node_resources())["node1"]
                      .mutable_host()
                      ->set_cpu_model("QEMU TCG CPU version 2.5+");
                  return answer;
                },
                results),
            absl::OkStatus());
  EXPECT_THAT(results.numa_comparison().omissions(),
              ElementsAre("no moon", HasSubstr("are emulated (QEMU TCG CPU")));
}

}  // namespace
}  // namespace distbench::numa_compare
