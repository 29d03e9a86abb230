// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/run.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "distbench/stats/outcomes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Le;

constexpr int64_t kAnySeconds = 1'000;
constexpr double kFailed = ValueDistribution::kInfinite;
constexpr int64_t kStartNs = kExampleStartSecond * base::kNsPerSecond;

ProtectionRun Measured(const TestResult& result,
                       std::optional<int64_t> limit_ns = std::nullopt) {
  return MeasureProtection(result, {.rpc = kExampleRpc, .limit_ns = limit_ns},
                           kAnySeconds);
}

// The mean; 0 if there are no values.
double MeanOf(const std::vector<double>& values) {
  return ValueDistribution(values).mean().value_or(0);
}

TEST(ProtectionRunTest, HalfOfTheRateIsHalfOfTheIsolation) {
  ExampleRun run = SteadyRun(200, kMillisecond);
  for (ExampleSecond* second : InterferenceOf(run)) {
    second->latency_ns.assign(100, 2 * kMillisecond);
  }
  const TestResult result = ResultOf(run);
  const ProtectionRun measured = Measured(result);
  EXPECT_EQ(measured.problem, "");
  EXPECT_EQ(measured.baseline_per_second, 200);
  EXPECT_EQ(measured.baseline_ns[kMainImpact], kMillisecond);
  ASSERT_EQ(IsolationOf(measured).size(), 10);
  EXPECT_THAT(IsolationOf(measured), Each(0.5));
  for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
    EXPECT_THAT(ImpactOf(measured, i), Each(1.0));
  }
}

TEST(ProtectionRunTest, MoreThanTheBaselineIsNotMoreThanAll) {
  ExampleRun run = SteadyRun(100, 2 * kMillisecond);
  InterferenceOf(run)[0]->latency_ns.assign(300, kMillisecond);
  const TestResult result = ResultOf(run);
  const ProtectionRun measured = Measured(result);
  EXPECT_THAT(IsolationOf(measured), Each(1.0));
  EXPECT_THAT(ImpactOf(measured, kMainImpact), Each(0.0));
}

TEST(ProtectionRunTest, SlowAndFailedRequestsAreNoGoodput) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  for (ExampleSecond* second : InterferenceOf(run)) {
    second->latency_ns.assign(60, kMillisecond);
    second->latency_ns.insert(second->latency_ns.end(), 20, 50 * kMillisecond);
    second->failed_count = 20;
  }
  const TestResult result = ResultOf(run);
  const ProtectionRun with_limit = Measured(result, 20 * kMillisecond);
  EXPECT_THAT(IsolationOf(with_limit), Each(0.6));
  EXPECT_THAT(IsolationOf(Measured(result)), Each(0.8));
  // Of 100, those from the 80th on have failed. Histograms have a precision.
  EXPECT_THAT(ImpactOf(with_limit, 0), Each(Le(0.008)));
  EXPECT_THAT(ImpactOf(with_limit, kMainImpact), Each(kFailed));
}

TEST(ProtectionRunTest, SilentSecondsCountAsNothing) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  InterferenceOf(run)[3]->latency_ns.clear();
  const TestResult result = ResultOf(run);
  const ProtectionRun measured = Measured(result);
  const std::vector<double> isolation = IsolationOf(measured);
  ASSERT_EQ(isolation.size(), 10);
  EXPECT_EQ(isolation[3], 0);
  EXPECT_DOUBLE_EQ(MeanOf(isolation), 0.9);
  EXPECT_EQ(ImpactOf(measured, kMainImpact)[3], kFailed);
  EXPECT_EQ(measured.seconds[13].state, SecondState::kMeasured);
  EXPECT_EQ(measured.seconds[13].latency_ns[0], stats::Outcomes::kFailed);
}

TEST(ProtectionRunTest, PartialSecondsAreLeftOut) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  TestResult result = ResultOf(run);
  ExperimentCell& cell = *result.mutable_experiment_cell();
  cell.set_interfere_start_timestamp_ns(kStartNs + 10 * base::kNsPerSecond + 1);
  cell.set_recover_start_timestamp_ns(kStartNs + 20 * base::kNsPerSecond - 1);
  const ProtectionRun measured = Measured(result);
  // The seconds 11 to 18; and 20 to 29 of the recovery.
  EXPECT_EQ(IsolationOf(measured).size(), 8);
  EXPECT_EQ(measured.seconds.size(), 10 + 8 + 10);
  EXPECT_EQ(measured.seconds[10].start_ns, kStartNs + 11 * base::kNsPerSecond);
}

TEST(ProtectionRunTest, AfterALostEngineEverySecondIsNothing) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  run.seconds.resize(14);
  TestResult result = ResultOf(run);
  // Records until the 14th second, and the run's end in the 16th.
  (*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
      .set_measurements_end_timestamp_ns(kStartNs + 14 * base::kNsPerSecond);
  result.mutable_run_info()->set_failure("client/0 was killed");
  result.mutable_run_info()->set_end_timestamp_ns(kStartNs +
                                                  15 * base::kNsPerSecond + 5);
  const ProtectionRun measured = Measured(result);
  ASSERT_EQ(measured.problem, "");
  EXPECT_DOUBLE_EQ(MeanOf(IsolationOf(measured)), 0.4);
  EXPECT_EQ(measured.seconds[13].state, SecondState::kMeasured);
  EXPECT_EQ(measured.seconds[14].state, SecondState::kMissing);
  for (size_t i = 15; i < measured.seconds.size(); ++i) {
    EXPECT_EQ(measured.seconds[i].state, SecondState::kFailed) << i;
    EXPECT_EQ(measured.seconds[i].isolation, 0);
    EXPECT_EQ(measured.seconds[i].impact[0], kFailed);
  }
  EXPECT_EQ(measured.recovered_after_s, std::nullopt);
}

TEST(ProtectionRunTest, TheSecondsEndWithTheAntagonist) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  run.seconds.resize(16);
  TestResult result = ResultOf(run);
  (*result.mutable_service_logs()->mutable_instance_logs())["antagonist_hog/0"]
      .set_measurements_end_timestamp_ns(0);
  result.mutable_run_info()->set_failure("antagonist_hog/0 was killed");
  result.mutable_run_info()->set_end_timestamp_ns(kStartNs +
                                                  16 * base::kNsPerSecond);
  const ProtectionRun measured = Measured(result);
  ASSERT_EQ(measured.problem, "");
  EXPECT_TRUE(measured.antagonist_lost);
  EXPECT_FALSE(ShowsRecovery(measured));
  EXPECT_EQ(IsolationOf(measured).size(), 6);
  EXPECT_THAT(IsolationOf(measured), Each(1.0));
}

// It records nothing of the RPC that could end, so that no second is missing.
TEST(ProtectionRunTest, ALostServerIsAFailureOfTheSubject) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  run.seconds.resize(16);
  TestResult result = ResultOf(run);
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  logs["server/0"].set_measurements_end_timestamp_ns(0);
  result.mutable_run_info()->set_failure("server/0 was killed");
  result.mutable_run_info()->set_end_timestamp_ns(kStartNs +
                                                  16 * base::kNsPerSecond);
  const auto expect_failure = [&] {
    const ProtectionRun measured = Measured(result);
    ASSERT_EQ(measured.problem, "");
    EXPECT_FALSE(measured.antagonist_lost);
    EXPECT_DOUBLE_EQ(MeanOf(IsolationOf(measured)), 0.6);
    EXPECT_EQ(measured.seconds[15].state, SecondState::kMeasured);
    EXPECT_EQ(measured.seconds[16].state, SecondState::kFailed);
  };
  expect_failure();
  // Also if the antagonist was killed with it.
  logs["antagonist_hog/0"].set_measurements_end_timestamp_ns(0);
  expect_failure();
}

TEST(ProtectionRunTest, RunsWithoutABaselineHaveAProblem) {
  ExampleRun silent = SteadyRun(100, kMillisecond);
  for (int i = 0; i < silent.baseline_s; ++i) {
    silent.seconds[i].latency_ns.clear();
  }
  const TestResult result = ResultOf(silent);
  EXPECT_THAT(Measured(result).problem,
              HasSubstr("no request was served within the objective"));
  EXPECT_TRUE(IsolationOf(Measured(result)).empty());

  TestResult failed = ResultOf(SteadyRun(100, kMillisecond));
  failed.mutable_run_info()->set_failure("no memory");
  failed.mutable_run_info()->set_end_timestamp_ns(kStartNs +
                                                  5 * base::kNsPerSecond);
  EXPECT_THAT(Measured(failed).problem, HasSubstr("baseline: no memory"));
}

TEST(ProtectionRunTest, SaysWhatIsMissing) {
  const TestResult result = ResultOf(SteadyRun(100, kMillisecond));
  EXPECT_THAT(
      MeasureProtection(result, {.rpc = "other", .limit_ns = {}}, 100).problem,
      HasSubstr("no RPC \"other\""));
  EXPECT_THAT(
      MeasureProtection(result, {.rpc = kExampleRpc, .limit_ns = {}}, 29)
          .problem,
      HasSubstr("more than 29 seconds"));
  TestResult unlabelled = result;
  unlabelled.mutable_experiment_cell()->clear_recover_start_timestamp_ns();
  EXPECT_THAT(Measured(unlabelled).problem, HasSubstr("when its phases began"));
  TestResult disordered = result;
  disordered.mutable_experiment_cell()->set_recover_start_timestamp_ns(
      kStartNs + 1);
  EXPECT_THAT(Measured(disordered).problem, HasSubstr("not in order"));
  TestResult unrecorded = result;
  unrecorded.mutable_service_logs()->clear_instance_logs();
  EXPECT_THAT(Measured(unrecorded).problem, HasSubstr("was recorded"));
  TestResult damaged = result;
  (*(*damaged.mutable_service_logs()->mutable_instance_logs())["client/0"]
        .mutable_rpc_time_series())[0]
      .set_interval_ns(32'767);
  EXPECT_THAT(Measured(damaged).problem, HasSubstr("shorter than a second"));
}

TEST(ProtectionRunTest, ImpactIsAbsentIfTheBaselineFails) {
  ExampleRun run = SteadyRun(90, kMillisecond);
  for (ExampleSecond& second : run.seconds) second.failed_count = 10;
  const TestResult result = ResultOf(run);
  const ProtectionRun measured = Measured(result);
  EXPECT_EQ(ImpactOf(measured, 0).size(), 10);
  EXPECT_TRUE(ImpactOf(measured, kMainImpact).empty());
  EXPECT_EQ(measured.recovered_after_s, std::nullopt);
}

TEST(ProtectionRunTest, RecoveryNeedsThreeGoodSecondsInARow) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  const std::vector<ExampleSecond*> recovery = RecoveryOf(run);
  // Good in 0 and 1, slow in 2, good from 3 on.
  recovery[2]->latency_ns.assign(100, 2 * kMillisecond);
  TestResult result = ResultOf(run);
  EXPECT_EQ(Measured(result).recovered_after_s, 3);
  EXPECT_EQ(Measured(result).recovery_s, 10);
  // With slow ones in 5 and 8, no three are in a row.
  recovery[5]->latency_ns.assign(94, kMillisecond);
  recovery[8]->latency_ns.clear();
  result = ResultOf(run);
  EXPECT_EQ(Measured(result).recovered_after_s, std::nullopt);
  // 95 of 100 are enough.
  recovery[5]->latency_ns.assign(95, kMillisecond);
  result = ResultOf(run);
  EXPECT_EQ(Measured(result).recovered_after_s, 3);
}

TEST(ProtectionRunTest, WideIntervalsCountAsSeconds) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  for (ExampleSecond* second : InterferenceOf(run)) {
    second->latency_ns.resize(25);
  }
  TestResult result = ResultOf(run);
  RpcTimeSeries& series =
      (*(*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
            .mutable_rpc_time_series())[0];
  // Twice as wide: every other interval, with the seconds' own counts.
  RpcTimeSeries wide;
  wide.set_interval_ns(2 * base::kNsPerSecond);
  for (int i = 0; i < series.intervals_size(); i += 2) {
    RpcInterval& interval = *wide.add_intervals();
    interval = series.intervals(i);
    interval.set_index(series.intervals(i).index() / 2);
  }
  series = wide;
  const ProtectionRun measured = Measured(result);
  EXPECT_EQ(measured.baseline_per_second, 50);
  EXPECT_EQ(IsolationOf(measured).size(), 5);
  EXPECT_THAT(IsolationOf(measured), Each(0.25));
  EXPECT_EQ(measured.recovered_after_s, 0);
}

TEST(ProtectionRunTest, ClosedLoopsHaveServiceTimes) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  run.is_open_loop = false;
  const TestResult result = ResultOf(run);
  EXPECT_FALSE(Measured(result).has_response_times);
  EXPECT_THAT(IsolationOf(Measured(result, kMillisecond)), Each(1.0));
}

TEST(ProtectionRunTest, MeasuresStayInTheirRanges) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    ExampleRun run = SteadyRun(1 + static_cast<int>(random() % 20),
                               1 + static_cast<int64_t>(random() % 1'000'000));
    for (ExampleSecond& second : run.seconds) {
      if (random() % 2 == 0) continue;
      second.latency_ns.resize(random() % 30, random() % 100'000'000);
      second.failed_count = static_cast<int64_t>(random() % 5);
    }
    const TestResult result = ResultOf(run);
    const ProtectionRun measured =
        Measured(result, static_cast<int64_t>(1 + random() % 10'000'000));
    for (const ProtectionSecond& second : measured.seconds) {
      EXPECT_GE(second.isolation, 0);
      EXPECT_LE(second.isolation, 1);
      for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
        EXPECT_GE(second.impact[i].value_or(0), 0);
        EXPECT_GE(second.latency_ns[i], second.latency_ns[i == 0 ? 0 : i - 1]);
      }
    }
  }
}

TEST(SubjectTest, TakesTheLimitFromTheObjective) {
  Experiment experiment;
  EXPECT_FALSE(SubjectOf(experiment).ok());
  experiment.mutable_subject()->set_rpc("query");
  auto subject = SubjectOf(experiment);
  ASSERT_TRUE(subject.ok());
  EXPECT_EQ(subject->limit_ns, std::nullopt);
  experiment.mutable_subject()->set_objective("query p99<=20ms");
  subject = SubjectOf(experiment);
  ASSERT_TRUE(subject.ok());
  EXPECT_EQ(subject->limit_ns, 20 * kMillisecond);
  for (const char* objective : {"p99>=20ms", "rate>=5", "cpu<=60%", "fast"}) {
    experiment.mutable_subject()->set_objective(objective);
    EXPECT_FALSE(SubjectOf(experiment).ok()) << objective;
  }
}

}  // namespace

// The measures against servers on simulated time, for which they are known.

namespace {

constexpr int64_t kServiceNs = 5 * kMillisecond;
constexpr int64_t kSlowServiceNs = 20 * kMillisecond;

// The antagonist works in this time, which begins and ends within seconds.
constexpr TimeSpan kInterference = {9'990 * kMillisecond,
                                    19'990 * kMillisecond};
constexpr int kSeconds = 40;

int64_t ServiceNs(int64_t start_ns) {
  return start_ns >= kInterference.start_ns && start_ns < kInterference.end_ns
             ? kSlowServiceNs
             : kServiceNs;
}

void Record(int64_t end_ns, int64_t latency_ns, ExampleRun& run) {
  const int64_t second = end_ns / base::kNsPerSecond;
  if (second >= kSeconds) return;
  run.seconds[second].latency_ns.push_back(latency_ns);
}

ExampleRun EmptyRun(bool is_open_loop) {
  ExampleRun run = SteadyRun(0, 0);
  run.is_open_loop = is_open_loop;
  run.recover_s = kSeconds - run.baseline_s - run.interfere_s;
  run.seconds.resize(kSeconds);
  return run;
}

TestResult ResultWithPhases(const ExampleRun& run) {
  TestResult result = ResultOf(run);
  ExperimentCell& cell = *result.mutable_experiment_cell();
  constexpr int64_t kStartNs = kExampleStartSecond * base::kNsPerSecond;
  cell.set_interfere_start_timestamp_ns(kStartNs + kInterference.start_ns);
  cell.set_recover_start_timestamp_ns(kStartNs + kInterference.end_ns);
  return result;
}

// 100 requests per second, 10 ms apart, in the order of their arrival.
TestResult OpenLoop() {
  constexpr int64_t kGapNs = 10 * kMillisecond;
  ExampleRun run = EmptyRun(true);
  int64_t free_ns = 0;
  for (int64_t arrival_ns = 2 * kMillisecond;
       arrival_ns < kSeconds * base::kNsPerSecond; arrival_ns += kGapNs) {
    const int64_t start_ns = std::max(arrival_ns, free_ns);
    free_ns = start_ns + ServiceNs(start_ns);
    Record(free_ns, free_ns - arrival_ns, run);
  }
  return ResultWithPhases(run);
}

// The next request as soon as one has ended.
TestResult ClosedLoop() {
  ExampleRun run = EmptyRun(false);
  for (int64_t start_ns = 0; start_ns < kSeconds * base::kNsPerSecond;) {
    const int64_t end_ns = start_ns + ServiceNs(start_ns);
    Record(end_ns, end_ns - start_ns, run);
    start_ns = end_ns;
  }
  return ResultWithPhases(run);
}

// The server can do 50 per second of the 100 that arrive, so 500 wait when the
// antagonist ends. From then on it can do 200 per second, and none waits after
// 5 s. The next whole second begins 0.01 s later.
TEST(ProtectionSimulationTest, AnOpenLoopOnAServerOfQuarterSpeed) {
  const TestResult result = OpenLoop();
  const ProtectionRun run =
      MeasureProtection(result, {.rpc = kExampleRpc, .limit_ns = {}}, 1'000);
  ASSERT_EQ(run.problem, "");
  EXPECT_EQ(run.baseline_per_second, 100);
  EXPECT_EQ(run.baseline_ns[kMainImpact], kServiceNs);
  ASSERT_EQ(IsolationOf(run).size(), 9);
  EXPECT_THAT(IsolationOf(run), Each(0.5));
  ASSERT_TRUE(run.recovered_after_s.has_value());
  EXPECT_DOUBLE_EQ(*run.recovered_after_s, 5.01);
}

// All of them waited longer than that.
TEST(ProtectionSimulationTest, ResponsesAfterTheLimitAreNoGoodput) {
  const TestResult result = OpenLoop();
  const ProtectionRun run = MeasureProtection(
      result, {.rpc = kExampleRpc, .limit_ns = 10 * kMillisecond}, 1'000);
  ASSERT_EQ(IsolationOf(run).size(), 9);
  EXPECT_THAT(IsolationOf(run), Each(0.0));
}

TEST(ProtectionSimulationTest, AClosedLoopOnAServerOfQuarterSpeed) {
  const TestResult result = ClosedLoop();
  const ProtectionRun run =
      MeasureProtection(result, {.rpc = kExampleRpc, .limit_ns = {}}, 1'000);
  ASSERT_EQ(run.problem, "");
  EXPECT_DOUBLE_EQ(run.baseline_per_second, 199 + 8.0 / 9);
  for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
    EXPECT_THAT(ImpactOf(run, i), Each(3.0));
  }
  for (const double isolation : IsolationOf(run)) {
    EXPECT_DOUBLE_EQ(isolation, 50 / run.baseline_per_second);
  }
}

}  // namespace
}  // namespace distbench::protection
