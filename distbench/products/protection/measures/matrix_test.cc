// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/matrix.h"

#include <string>
#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A run with so many requests per second beside the antagonist, of 100 before.
ExampleRun RunWith(int beside, int repetition, const std::string& antagonist) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  run.repetition = repetition;
  run.antagonist = antagonist;
  for (ExampleSecond* second : InterferenceOf(run)) {
    second->latency_ns.resize(beside);
  }
  return run;
}

ProtectionMatrix MatrixOf(const TestSequenceResults& results) {
  std::vector<ProtectionMatrix> matrices = MeasureExperiments(results);
  EXPECT_EQ(matrices.size(), 1);
  return matrices.empty() ? ProtectionMatrix() : std::move(matrices[0]);
}

TEST(ProtectionMatrixTest, CellsAreInTheOrderOfTheExperiment) {
  const TestSequenceResults results = MakeExampleExperiment();
  const ProtectionMatrix matrix = MatrixOf(results);
  EXPECT_EQ(matrix.problem, "");
  std::vector<std::string> names;
  for (const ProtectionCell& cell : matrix.cells) {
    names.push_back(cell.controls + ":" + cell.antagonist);
    ASSERT_EQ(cell.runs.size(), 3);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(cell.runs[i].result->experiment_cell().repetition(), i);
    }
  }
  EXPECT_THAT(names, ElementsAre("off:", "off:hog", "off:burner",
                                 "on:", "on:hog", "on:burner"));
}

TEST(ProtectionMatrixTest, IntervalsAreOverRuns) {
  const TestSequenceResults results = ResultsOf(
      {RunWith(40, 0, "hog"), RunWith(50, 1, "hog"), RunWith(60, 2, "hog")});
  const ProtectionMatrix matrix = MatrixOf(results);
  ASSERT_EQ(matrix.cells.size(), 1);
  const ProtectionCell& cell = matrix.cells[0];
  EXPECT_EQ(cell.isolation.count(), 30);
  ASSERT_TRUE(cell.mean_isolation && cell.mean_isolation->interval);
  EXPECT_DOUBLE_EQ(cell.mean_isolation->value, 0.5);
  // t(0.975, 2) times 0.1 / sqrt(3).
  EXPECT_NEAR(cell.mean_isolation->interval->lower, 0.5 - 0.2484, 1e-4);
  EXPECT_NEAR(cell.mean_isolation->interval->upper, 0.5 + 0.2484, 1e-4);
  // Each run is as isolated in all of its seconds, so its p05 is its mean.
  ASSERT_TRUE(cell.p05_isolation && cell.p05_isolation->interval);
  EXPECT_DOUBLE_EQ(cell.p05_isolation->value, 0.5);
  EXPECT_NEAR(cell.p05_isolation->interval->lower, 0.5 - 0.2484, 1e-4);
}

TEST(ProtectionMatrixTest, OneRunHasNoInterval) {
  const TestSequenceResults results = ResultsOf({RunWith(40, 0, "hog")});
  const ProtectionMatrix matrix = MatrixOf(results);
  ASSERT_EQ(matrix.cells.size(), 1);
  EXPECT_DOUBLE_EQ(matrix.cells[0].mean_isolation->value, 0.4);
  EXPECT_FALSE(matrix.cells[0].mean_isolation->interval);
}

TEST(ProtectionMatrixTest, IntervalsStayWithinWhatTheMeasureCanBe) {
  const TestSequenceResults results =
      ResultsOf({RunWith(10, 0, "hog"), RunWith(100, 1, "hog")});
  const ProtectionMatrix matrix = MatrixOf(results);
  ASSERT_TRUE(matrix.cells[0].mean_isolation->interval);
  EXPECT_EQ(matrix.cells[0].mean_isolation->interval->lower, 0);
  EXPECT_EQ(matrix.cells[0].mean_isolation->interval->upper, 1);
}

// One long run has no weight that its interval does not have.
TEST(ProtectionMatrixTest, MeansLieWithinTheirIntervals) {
  std::vector<ExampleRun> runs = {RunWith(100, 0, "hog")};
  for (int i = 1; i < 6; ++i) {
    ExampleRun& run = runs.emplace_back(RunWith(20, i, "hog"));
    for (ExampleSecond* second : InterferenceOf(run)) {
      second->latency_ns.assign(20, 3 * kMillisecond);
    }
  }
  TestSequenceResults results = ResultsOf(runs);
  for (int i = 1; i < 6; ++i) {
    results.mutable_test_results(i)
        ->mutable_experiment_cell()
        ->set_recover_start_timestamp_ns((kExampleStartSecond + 11) *
                                         base::kNsPerSecond);
  }
  const ProtectionMatrix matrix = MatrixOf(results);
  const ProtectionCell& cell = matrix.cells[0];
  EXPECT_DOUBLE_EQ(*cell.isolation.mean(), 11.0 / 15);
  ASSERT_TRUE(cell.mean_isolation && cell.mean_isolation->interval);
  EXPECT_DOUBLE_EQ(cell.mean_isolation->value, 2.0 / 6);
  EXPECT_LT(cell.mean_isolation->value, cell.mean_isolation->interval->upper);
  ASSERT_TRUE(cell.mean_impact && cell.mean_impact->interval);
  EXPECT_NEAR(cell.mean_impact->value, 10.0 / 6, 1e-9);
  EXPECT_GT(cell.mean_impact->value, cell.mean_impact->interval->lower);
}

TEST(ProtectionMatrixTest, ComparesWithTheCellWithoutAntagonist) {
  const TestSequenceResults results =
      ResultsOf({RunWith(80, 0, ""), RunWith(40, 0, "hog")});
  const ProtectionMatrix matrix = MatrixOf(results);
  ASSERT_EQ(matrix.cells.size(), 2);
  EXPECT_EQ(matrix.cells[0].isolation_against_none, std::nullopt);
  EXPECT_DOUBLE_EQ(matrix.cells[0].mean_isolation->value, 0.8);
  EXPECT_DOUBLE_EQ(*matrix.cells[1].isolation_against_none, 0.5);
}

TEST(ProtectionMatrixTest, RunsWithAProblemAreInNoFigure) {
  ExampleRun silent = RunWith(100, 1, "hog");
  for (int i = 0; i < silent.baseline_s; ++i) {
    silent.seconds[i].latency_ns.clear();
  }
  const TestSequenceResults results =
      ResultsOf({RunWith(40, 0, "hog"), silent});
  const ProtectionMatrix matrix = MatrixOf(results);
  const ProtectionCell& cell = matrix.cells[0];
  EXPECT_EQ(cell.runs.size(), 2);
  EXPECT_EQ(MeasuredRunCount(cell), 1);
  EXPECT_DOUBLE_EQ(cell.mean_isolation->value, 0.4);
}

TEST(ProtectionMatrixTest, AccountsTheAntagonistsWork) {
  const TestSequenceResults results = MakeExampleExperiment();
  const ProtectionMatrix matrix = MatrixOf(results);
  const ProtectionCell& hog = matrix.cells[1];
  ASSERT_TRUE(hog.work.beside && hog.work.alone);
  EXPECT_EQ(hog.work.beside->completed, 80);
  EXPECT_EQ(hog.work.beside->offered, 100);
  EXPECT_EQ(hog.conservation.size(), kWorkResources.size());
  EXPECT_TRUE(MainConservation(hog.conservation) != nullptr);
  EXPECT_TRUE(matrix.cells[0].conservation.empty());
}

// Otherwise, an antagonist that died alone would seem to do more beside others.
TEST(ProtectionMatrixTest, WorkEndsWithARunThatFailed) {
  ExampleRun beside = RunWith(40, 0, "hog");
  for (ExampleSecond* second : InterferenceOf(beside)) {
    second->completed_count = 80;
  }
  ExampleRun alone = RunWith(0, 0, "hog");
  alone.controls = "";
  alone.purpose = "antagonist_alone";
  for (int i = 0; i < 5; ++i) InterferenceOf(alone)[i]->completed_count = 100;
  TestSequenceResults results = ResultsOf({beside, alone});
  RunInfo& info = *results.mutable_test_results(1)->mutable_run_info();
  info.set_failure("the antagonist was killed");
  info.set_end_timestamp_ns((kExampleStartSecond + alone.baseline_s + 5) *
                            int64_t{1'000'000'000});
  const ProtectionMatrix matrix = MatrixOf(results);
  ASSERT_EQ(matrix.cells.size(), 1);
  const AntagonistWork& work = matrix.cells[0].work;
  ASSERT_TRUE(work.beside && work.alone);
  EXPECT_EQ(work.beside->completed, 80);
  EXPECT_EQ(work.alone->completed, 100);
}

TEST(ProtectionMatrixTest, TheAntagonistsWorkIsThatUntilTheRunFailed) {
  ExampleRun run = RunWith(50, 0, "hog");
  for (ExampleSecond* second : InterferenceOf(run)) second->completed_count = 8;
  run.seconds.resize(15);
  TestSequenceResults results = ResultsOf({run, RunWith(50, 1, "hog")});
  TestResult& failed = *results.mutable_test_results(0);
  failed.mutable_run_info()->set_failure("server/0 was killed");
  failed.mutable_run_info()->set_end_timestamp_ns((kExampleStartSecond + 15) *
                                                  base::kNsPerSecond);
  const TestResult* const result = &failed;
  ASSERT_TRUE(MeanAntagonistRate({result}).has_value());
  EXPECT_EQ(MeanAntagonistRate({result})->completed, 8);
  (*failed.mutable_service_logs()->mutable_instance_logs())["antagonist_hog/1"]
      .set_measurements_end_timestamp_ns(0);
  EXPECT_FALSE(MeanAntagonistRate({result}).has_value());
}

TEST(ProtectionMatrixTest, SeveralExperimentsAreToldApartByTheirTests) {
  TestSequenceResults results =
      ResultsOf({RunWith(40, 0, "hog"), RunWith(60, 0, "hog")});
  results.mutable_experiments(0)->set_test_name("a");
  for (const char* name : {"a-b", "other"}) {
    *results.add_experiments() = results.experiments(0);
    results.mutable_experiments(results.experiments_size() - 1)
        ->set_test_name(name);
  }
  const char* const names[] = {"a-off-hog", "a-b-off-hog"};
  for (int i = 0; i < 2; ++i) {
    results.mutable_test_results(i)->mutable_traffic_config()->set_name(
        names[i]);
  }
  const std::vector<ProtectionMatrix> matrices = MeasureExperiments(results);
  ASSERT_EQ(matrices.size(), 3);
  ASSERT_EQ(matrices[0].cells.size(), 1);
  EXPECT_DOUBLE_EQ(matrices[0].cells[0].mean_isolation->value, 0.4);
  ASSERT_EQ(matrices[1].cells.size(), 1);
  EXPECT_DOUBLE_EQ(matrices[1].cells[0].mean_isolation->value, 0.6);
  EXPECT_THAT(matrices[2].problem, testing::HasSubstr("no run of its cells"));
}

TEST(ProtectionMatrixTest, ResultsOfSeveralRunsAreMeasuredOnce) {
  std::vector<report::SourcedResults> sourced(1);
  sourced[0].source = "file.pb";
  sourced[0].results = MakeExampleExperiment();
  const std::vector<report::TestRun> runs = report::ListRuns(sourced);
  ASSERT_GT(runs.size(), 1);
  const std::vector<ProtectionMatrix> matrices =
      MeasureExperiments(absl::MakeConstSpan(runs));
  ASSERT_EQ(matrices.size(), 1);
  EXPECT_EQ(matrices[0].source, "file.pb");
}

TEST(ProtectionMatrixTest, SaysThatAnAntagonistFailedAlone) {
  ExampleRun alone = RunWith(0, 0, "hog");
  alone.purpose = "antagonist_alone";
  TestSequenceResults results = ResultsOf({RunWith(40, 0, "hog"), alone});
  EXPECT_THAT(NotesOf(MatrixOf(results)), IsEmpty());
  results.mutable_test_results(1)->mutable_run_info()->set_failure("killed");
  EXPECT_THAT(NotesOf(MatrixOf(results)),
              ElementsAre("a run of antagonist hog alone failed, so that "
                          "comparisons with it are not to be trusted: "
                          "killed"));
}

TEST(ProtectionMatrixTest, SaysThatTheCapacityIsABoundOfItsSearch) {
  TestSequenceResults results = ResultsOf({RunWith(40, 0, "hog")});
  results.mutable_experiments(0)->set_capacity_per_second(300);
  results.add_searches()->set_verdict("converged");
  EXPECT_FALSE(MatrixOf(results).is_capacity_least);
  results.mutable_searches(0)->set_verdict("upper_bound_hit");
  EXPECT_TRUE(MatrixOf(results).is_capacity_least);
  EXPECT_THAT(NotesOf(MatrixOf(results)), ElementsAre(HasSubstr("max_load")));
  results.mutable_experiments(0)
      ->mutable_experiment()
      ->mutable_subject()
      ->set_capacity("300/s");
  EXPECT_FALSE(MatrixOf(results).is_capacity_least);
}

TEST(MedianRecoveryTest, RunsWithoutRecoveryRankAboveAll) {
  ProtectionCell cell;
  EXPECT_EQ(MedianRecovery(cell), std::nullopt);
  cell.runs.resize(3);
  // Without a recovery, none of them shows whether there would have been one.
  EXPECT_EQ(MedianRecovery(cell), std::nullopt);
  for (ProtectionRun& run : cell.runs) run.recovery_s = 10;
  cell.runs[0].recovered_after_s = 4;
  cell.runs[1].recovered_after_s = 2;
  EXPECT_EQ(MedianRecovery(cell), 4);
  cell.runs[0].recovered_after_s.reset();
  EXPECT_EQ(MedianRecovery(cell), ValueDistribution::kInfinite);
  cell.runs.resize(2);
  EXPECT_EQ(MedianRecovery(cell), ValueDistribution::kInfinite);
  cell.runs[0].recovered_after_s = 4;
  EXPECT_EQ(MedianRecovery(cell), 3);
}

}  // namespace
}  // namespace distbench::protection
