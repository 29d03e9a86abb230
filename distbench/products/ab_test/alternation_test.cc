// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/ab_test/alternation.h"

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/comparison/until_decided.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::ab_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TestSequenceResults ResultOf(int64_t latency_ns) {
  TestSequenceResults results;
  *results.add_test_results() = report::RunOf(latency_ns);
  return results;
}

TestSequenceResults FailedResult() {
  TestSequenceResults results = ResultOf(1000);
  results.mutable_test_results(0)->mutable_run_info()->set_failure(
      "node1 was lost");
  return results;
}

// A cluster on which new is slower by a factor, and runs differ by about 3 %.
class FakeCluster {
 public:
  explicit FakeCluster(double true_ratio) : true_ratio_(true_ratio) {}

  absl::Status Run(AbSide side, TestSequenceResults& results) {
    order += side == AbSide::kBase ? 'b' : 'n';
    std::normal_distribution<double> deviation(0, 0.03);
    const double ratio = side == AbSide::kBase ? 1 : true_ratio_;
    results =
        ResultOf(std::llround(1e9 * ratio * std::exp(deviation(random_))));
    return change ? change(order.size(), results) : absl::OkStatus();
  }

  // Changes what the run with this number, from 1, gives.
  std::function<absl::Status(int run, TestSequenceResults& results)> change;
  std::string order;

 private:
  const double true_ratio_;
  std::mt19937_64 random_{3};
};

AbTestOptions OptionsWith(const std::string& gate, int rounds,
                          bool until_decided) {
  return {.gates = {*report::ParseGate(gate)},
          .rounds = rounds,
          .until_decided = until_decided};
}

absl::Status RunOn(const AbTestOptions& options, FakeCluster& cluster,
                   AbTestResults& results) {
  return RunAbTest(
      options,
      [&](AbSide side, TestSequenceResults& measured) {
        return cluster.Run(side, measured);
      },
      [](const AbTestResults&) { return absl::OkStatus(); }, results);
}

TEST(AbTest, RunsAllRoundsInAlternatingOrder) {
  FakeCluster cluster(1.5);
  AbTestResults results;
  EXPECT_TRUE(RunOn(OptionsWith("p99>5%", 5, false), cluster, results).ok());
  EXPECT_EQ(cluster.order, "bnnbbnnbbn");
  EXPECT_EQ(results.rounds, 5);
  EXPECT_THAT(results.base.results.test_results(), SizeIs(5));
  EXPECT_EQ(results.next.results.test_results(4).run_info().repetition(), 4);
  ASSERT_THAT(results.checks, SizeIs(1));
  EXPECT_EQ(results.checks[0].verdict, report::CheckVerdict::kFail);
  EXPECT_FALSE(results.comparisons[0].look_plan);
}

TEST(AbTest, EndsWhenItIsDecided) {
  FakeCluster cluster(1.5);
  AbTestResults results;
  EXPECT_TRUE(RunOn(OptionsWith("p99>5%", 50, true), cluster, results).ok());
  EXPECT_EQ(results.rounds, report::kFirstLook);
  EXPECT_EQ(results.checks[0].verdict, report::CheckVerdict::kFail);
}

// The files of an A/B test, compared later, have the same verdict: its bounds
// are wider than those of as many runs without looks.
TEST(AbTest, ResultsSayThatTheyWereRepeatedUntilDecided) {
  FakeCluster cluster(1.05);
  AbTestResults results;
  EXPECT_TRUE(RunOn(OptionsWith("p99>5%", 12, true), cluster, results).ok());
  EXPECT_EQ(results.rounds, 12);
  const std::vector<report::SourcedResults> base = {results.base};
  const std::vector<report::SourcedResults> next = {results.next};
  const auto compared =
      report::Compare(report::ListRuns(base), report::ListRuns(next), {});
  ASSERT_TRUE(compared[0].look_plan);
  EXPECT_EQ(compared[0].look_plan->last, 12);
  const auto checks =
      report::JudgeGates({*report::ParseGate("p99>5%")}, compared);
  EXPECT_EQ(checks[0].evidence, results.checks[0].evidence);
  EXPECT_THAT(checks[0].evidence,
              testing::Not(HasSubstr("(one-sided 95 % bounds")));
}

TEST(AbTest, AFailedRunLeavesOutItsRound) {
  FakeCluster cluster(1.5);
  cluster.change = [](int run, TestSequenceResults& results) {
    if (run == 2) results = FailedResult();
    return absl::OkStatus();
  };
  AbTestResults results;
  EXPECT_TRUE(RunOn(OptionsWith("p99>5%", 4, false), cluster, results).ok());
  EXPECT_EQ(results.rounds, 4);
  EXPECT_EQ(cluster.order, "bnnbbnnbbn");
  EXPECT_THAT(results.left_out.test_results(), SizeIs(2));
  EXPECT_EQ(
      results.left_out.test_results(1).traffic_config().attributes().at("side"),
      "new");
  EXPECT_THAT(results.left_out_reasons,
              ElementsAre("an attempt at round 1 was left out: new: t did not "
                          "run to its end: node1 was lost"));
  EXPECT_EQ(results.checks[0].verdict, report::CheckVerdict::kFail);
}

TEST(AbTest, ManyFailedRunsEndIt) {
  FakeCluster cluster(1);
  cluster.change = [](int, TestSequenceResults& results) {
    results = FailedResult();
    return absl::OkStatus();
  };
  AbTestResults results;
  const absl::Status status =
      RunOn(OptionsWith("p99>5%", 20, true), cluster, results);
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("node1 was lost"));
  // The other side of a failed run is not measured.
  EXPECT_EQ(cluster.order, "bnb");
  EXPECT_EQ(results.rounds, 0);
  EXPECT_EQ(results.checks[0].verdict, report::CheckVerdict::kFail);
}

TEST(AbTest, AnErrorKeepsWhatWasMeasured) {
  FakeCluster cluster(1.5);
  cluster.change = [](int run, TestSequenceResults& results) {
    if (run < 12) return absl::OkStatus();
    results = FailedResult();
    return absl::CancelledError("cancelled by the user");
  };
  AbTestResults results;
  const absl::Status status =
      RunOn(OptionsWith("p99>5%", 20, false), cluster, results);
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_EQ(results.rounds, 5);
  EXPECT_THAT(results.left_out.test_results(), SizeIs(2));
  EXPECT_EQ(results.checks[0].verdict, report::CheckVerdict::kFail);
  EXPECT_EQ(results.comparisons[0].base_runs, 5);
}

// The observer sees each round, so that it can be kept before the next.
TEST(AbTest, AnErrorOfTheObserverEndsIt) {
  FakeCluster cluster(1);
  AbTestResults results;
  std::vector<int> rounds;
  const absl::Status status = RunAbTest(
      OptionsWith("p99>5%", 20, true),
      [&](AbSide side, TestSequenceResults& measured) {
        return cluster.Run(side, measured);
      },
      [&](const AbTestResults& so_far) {
        rounds.push_back(so_far.rounds);
        return so_far.rounds == 2 ? absl::DataLossError("the disk is full")
                                  : absl::OkStatus();
      },
      results);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(rounds, ElementsAre(1, 2));
}

// A gate that no number of rounds can judge is not waited for.
TEST(AbTest, AGateThatCannotBeJudgedEndsIt) {
  FakeCluster cluster(1);
  AbTestResults results;
  EXPECT_TRUE(
      RunOn(OptionsWith("missing:p99>5%", 20, true), cluster, results).ok());
  EXPECT_EQ(results.rounds, 1);
  EXPECT_THAT(results.checks[0].evidence, HasSubstr("cannot be judged"));
}

TEST(AbTest, WithoutGatesAllRoundsAreCompared) {
  FakeCluster cluster(2);
  AbTestResults results;
  EXPECT_TRUE(RunOn({.rounds = 3}, cluster, results).ok());
  EXPECT_THAT(results.checks, IsEmpty());
  EXPECT_EQ(results.comparisons[0].rpcs[0].metrics[0].verdict,
            report::ComparisonVerdict::kWorse);
}

}  // namespace
}  // namespace distbench::ab_test
