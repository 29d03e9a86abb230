// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/runner.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/time_units.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/experiment_searches.h"
#include "distbench/products/protection/testing/example_experiment.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/search_run.h"
#include "distbench/products/search/strategy/load_search.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kStartNs = 1000 * base::kNsPerSecond;

// How long a test of the example lasts.
int64_t SecondsOf(const DistributedSystemDescription& test) {
  int64_t longest_us = 0;
  for (const Action& action : test.actions()) {
    longest_us = std::max(longest_us, action.iterations().max_duration_us());
  }
  return longest_us / base::kUsPerSecond;
}

// Answers 100 requests a second, after a time to settle.
struct FakeSequencer {
  int64_t settling_seconds = 0;

  // What a test with this name returns instead, the first time that it runs.
  std::map<std::string, absl::Status> errors;
  std::function<void(const DistributedSystemDescription& test,
                     TestResult& result)>
      change = [](const auto&, auto&) {};

  std::vector<DistributedSystemDescription> tests;

  absl::StatusOr<TestResult> Run(const DistributedSystemDescription& test) {
    tests.push_back(test);
    if (const auto error = errors.find(test.name()); error != errors.end()) {
      const absl::Status status = error->second;
      errors.erase(error);
      return status;
    }
    TestResult result;
    *result.mutable_traffic_config() = test;
    RunInfo& info = *result.mutable_run_info();
    info.set_start_timestamp_ns(kStartNs);
    info.set_end_timestamp_ns(kStartNs + SecondsOf(test) * base::kNsPerSecond);
    AddSeries(SecondsOf(test), result);
    change(test, result);
    return result;
  }

  void AddSeries(int64_t seconds, TestResult& result) const {
    RpcTimeSeries& series =
        (*(*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
              .mutable_rpc_time_series())[0];
    series.set_interval_ns(base::kNsPerSecond);
    for (int64_t i = 0; i < seconds; ++i) {
      const int64_t count = i < settling_seconds ? 10 + 4 * i : 100;
      stats::LogHistogram latency;
      latency.RecordN(1'000'000, count);
      RpcInterval& interval = *series.add_intervals();
      interval.set_index(kStartNs / base::kNsPerSecond + i);
      interval.set_succeeded_count(count);
      results::EncodeHistogram(latency, *interval.mutable_response_time_ns());
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& test : tests) names.push_back(test.name());
    return names;
  }

  ExperimentCallbacks Callbacks() {
    ExperimentCallbacks callbacks;
    callbacks.run = [this](const DistributedSystemDescription& test,
                           const search::ProgressWatcher&) {
      return Run(test);
    };
    return callbacks;
  }
};

// Runs of the example: two sets of controls, each with hog and without, and
// hog alone.
constexpr int kCells = 5;

TEST(RunExperimentTest, KeepsEveryRunWithItsCell) {
  FakeSequencer sequencer;
  TestSequenceResults results;
  const ExperimentPlan plan = ExamplePlan("repeat: 2");
  ASSERT_EQ(RunExperiment(plan, sequencer.Callbacks(), results),
            absl::OkStatus());
  const auto expected = ListCells(plan.experiment, plan.seed);
  ASSERT_THAT(results.test_results(), SizeIs(2 * kCells));
  for (int i = 0; i < 2 * kCells; ++i) {
    const TestResult& result = results.test_results(i);
    EXPECT_TRUE(IsSameRun(result.experiment_cell(), expected[i]));
    EXPECT_EQ(result.run_info().repetition(), i / kCells);
  }
  ASSERT_THAT(results.experiments(), SizeIs(1));
  EXPECT_EQ(results.experiments(0).random_seed(), 7);
  EXPECT_EQ(results.experiments(0).test_name(), "t");
  EXPECT_THAT(results.experiments(0).omissions(), IsEmpty());
  EXPECT_TRUE(IsCompleteExperiment(plan, results));
}

TEST(RunExperimentTest, SaysWhenThePhasesBegan) {
  FakeSequencer sequencer;
  TestSequenceResults results;
  ASSERT_EQ(
      RunExperiment(ExamplePlan("repeat: 1"), sequencer.Callbacks(), results),
      absl::OkStatus());
  for (const TestResult& result : results.test_results()) {
    const ExperimentCell& cell = result.experiment_cell();
    const bool is_alone = !cell.purpose().empty();
    // The first attempt has twice flat_over to hold still.
    const int64_t baseline = is_alone ? 0 : 10;
    const int64_t interfere = is_alone ? 0 : 20;
    EXPECT_EQ(cell.baseline_start_timestamp_ns(),
              kStartNs + baseline * base::kNsPerSecond);
    EXPECT_EQ(cell.interfere_start_timestamp_ns(),
              kStartNs + interfere * base::kNsPerSecond);
    EXPECT_EQ(cell.recover_start_timestamp_ns(),
              kStartNs + (interfere + 20) * base::kNsPerSecond);
    EXPECT_EQ(cell.has_is_stable(), !is_alone);
    if (is_alone) continue;
    EXPECT_EQ(cell.end_timestamp_ns(), kStartNs + 45 * base::kNsPerSecond);
    EXPECT_TRUE(cell.is_stable());
    EXPECT_DOUBLE_EQ(cell.load_per_second(), 100);
    EXPECT_THAT(cell.stability(), HasSubstr("still since 0 s"));
  }
}

TEST(RunExperimentTest, GivesASlowSubjectMoreTimeAndTheNextCellsAtOnce) {
  FakeSequencer sequencer{.settling_seconds = 12};
  TestSequenceResults results;
  ASSERT_EQ(
      RunExperiment(ExamplePlan("repeat: 1"), sequencer.Callbacks(), results),
      absl::OkStatus());
  EXPECT_THAT(results.test_results(), SizeIs(kCells));
  // Only the first cell with the subject had to be repeated.
  EXPECT_THAT(sequencer.tests, SizeIs(kCells + 1));
  for (const TestResult& result : results.test_results()) {
    if (!result.experiment_cell().has_is_stable()) continue;
    EXPECT_TRUE(result.experiment_cell().is_stable());
    EXPECT_EQ(SecondsOf(result.traffic_config()), 55);
  }
}

TEST(RunExperimentTest, KeepsASubjectThatNeverHoldsStillAndSaysSo) {
  FakeSequencer sequencer{.settling_seconds = 100};
  TestSequenceResults results;
  std::vector<std::string> evidence;
  ExperimentCallbacks callbacks = sequencer.Callbacks();
  callbacks.observe = [&](const CellRun&, CellOutcome outcome,
                          const std::string& text) {
    if (outcome == CellOutcome::kRepeated) evidence.push_back(text);
  };
  ASSERT_EQ(RunExperiment(ExamplePlan("repeat: 1"), callbacks, results),
            absl::OkStatus());
  EXPECT_THAT(results.test_results(), SizeIs(kCells));
  EXPECT_THAT(evidence, SizeIs(1));
  EXPECT_THAT(evidence, Each(HasSubstr("throughput changed by +")));
  for (const TestResult& result : results.test_results()) {
    EXPECT_FALSE(result.experiment_cell().is_stable());
  }
}

TEST(RunExperimentTest, OmitsACellThatCannotRunInAllRepetitions) {
  FakeSequencer sequencer;
  sequencer.errors["t-on-hog"] =
      absl::FailedPreconditionError("node1 has no control groups");
  TestSequenceResults results;
  const ExperimentPlan plan = ExamplePlan("repeat: 2");
  ASSERT_EQ(RunExperiment(plan, sequencer.Callbacks(), results),
            absl::OkStatus());
  EXPECT_THAT(results.test_results(), SizeIs(2 * (kCells - 1)));
  EXPECT_THAT(sequencer.tests, SizeIs(2 * kCells - 1));
  EXPECT_THAT(results.experiments(0).omissions(),
              ElementsAre("The cell (controls on, hog) could not be run: node1 "
                          "has no control groups."));
  EXPECT_FALSE(IsCompleteExperiment(plan, results));
}

TEST(RunExperimentTest, AFailureBeforeAnyTrafficIsNoResult) {
  FakeSequencer sequencer;
  sequencer.change = [](const DistributedSystemDescription& test,
                        TestResult& result) {
    if (!test.has_controls()) return;
    result.mutable_run_info()->Clear();
    result.mutable_run_info()->set_failure("node0 could not prepare");
  };
  TestSequenceResults results;
  ASSERT_EQ(
      RunExperiment(ExamplePlan("repeat: 3"), sequencer.Callbacks(), results),
      absl::OkStatus());
  EXPECT_THAT(results.test_results(), SizeIs(3 * (kCells - 2)));
  EXPECT_THAT(results.experiments(0).omissions(), SizeIs(2));
}

// Ends the first run of a cell after this many seconds.
void FailAfter(int64_t seconds, const std::string& name,
               FakeSequencer& sequencer) {
  sequencer.change = [=, is_first = true](
                         const DistributedSystemDescription& test,
                         TestResult& result) mutable {
    if (test.name() != name || !is_first) return;
    is_first = false;
    result.mutable_run_info()->set_failure("server/0 was killed");
    result.mutable_run_info()->set_end_timestamp_ns(
        kStartNs + seconds * base::kNsPerSecond);
  };
}

TEST(RunExperimentTest, ASubjectKilledBesideTheAntagonistIsAResult) {
  FakeSequencer sequencer;
  FailAfter(21, "t-off-hog", sequencer);
  TestSequenceResults results;
  ASSERT_EQ(
      RunExperiment(ExamplePlan("repeat: 1"), sequencer.Callbacks(), results),
      absl::OkStatus());
  EXPECT_THAT(results.test_results(), SizeIs(kCells));
  EXPECT_THAT(results.experiments(0).omissions(), IsEmpty());
}

TEST(RunExperimentTest, ASubjectKilledBeforeThatIsAnOmissionOfTheRepetition) {
  FakeSequencer sequencer;
  FailAfter(19, "t-off-hog", sequencer);
  TestSequenceResults results;
  ASSERT_EQ(
      RunExperiment(ExamplePlan("repeat: 2"), sequencer.Callbacks(), results),
      absl::OkStatus());
  EXPECT_THAT(results.test_results(), SizeIs(2 * kCells - 1));
  EXPECT_THAT(results.experiments(0).omissions(),
              ElementsAre("The cell (controls off, hog) was not measured in "
                          "repetition 1: it ended before the antagonist began: "
                          "server/0 was killed."));
}

TEST(RunExperimentTest, AnExperimentWithoutAnyRunHasFailed) {
  FakeSequencer sequencer;
  sequencer.change = [](const auto&, TestResult& result) {
    result.mutable_run_info()->Clear();
    result.mutable_run_info()->set_failure("there are no nodes");
  };
  TestSequenceResults results;
  const absl::Status status =
      RunExperiment(ExamplePlan("repeat: 2"), sequencer.Callbacks(), results);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("none of the cells could be run"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("there are no nodes"));
  EXPECT_THAT(results.test_results(), IsEmpty());
}

// Ends the experiment after this many tests.
absl::Status RunUntil(size_t tests, const absl::Status& end,
                      const ExperimentPlan& plan, FakeSequencer& sequencer,
                      TestSequenceResults& results) {
  ExperimentCallbacks callbacks = sequencer.Callbacks();
  callbacks.run =
      [&](const DistributedSystemDescription& test,
          const search::ProgressWatcher&) -> absl::StatusOr<TestResult> {
    if (sequencer.tests.size() == tests) return end;
    return sequencer.Run(test);
  };
  return RunExperiment(plan, callbacks, results);
}

TEST(RunExperimentTest, KeepsWhatWasMeasuredBeforeItWasCancelled) {
  for (const absl::Status& end :
       {absl::CancelledError("stop"), absl::UnavailableError("it is gone")}) {
    FakeSequencer sequencer;
    TestSequenceResults results;
    EXPECT_EQ(RunUntil(2, end, ExamplePlan("repeat: 1"), sequencer, results),
              end);
    EXPECT_THAT(results.test_results(), SizeIs(2));
  }
}

// Also where a cell needs two attempts, of which the first was the last test.
TEST(RunExperimentTest, WhatIsCutAtAnyTestEndsAsIfItWasNot) {
  const ExperimentPlan plan = ExamplePlan("repeat: 2");
  FakeSequencer whole{.settling_seconds = 12};
  TestSequenceResults expected;
  ASSERT_EQ(RunExperiment(plan, whole.Callbacks(), expected), absl::OkStatus());
  for (size_t cut = 0; cut < whole.tests.size(); ++cut) {
    FakeSequencer first{.settling_seconds = 12};
    TestSequenceResults results;
    RunUntil(cut, absl::CancelledError("stop"), plan, first, results)
        .IgnoreError();
    const int kept = results.test_results_size();
    FakeSequencer second{.settling_seconds = 12};
    ASSERT_EQ(RunExperiment(plan, second.Callbacks(), results),
              absl::OkStatus());
    EXPECT_TRUE(MessageDifferencer::Equals(results, expected)) << cut;
    // Nothing but attempts of the cell that was cut has run twice.
    const size_t attempts = first.tests.size() - static_cast<size_t>(kept);
    EXPECT_LE(first.tests.size() + second.tests.size(),
              whole.tests.size() + attempts);
    EXPECT_TRUE(IsCompleteExperiment(plan, results));
  }
  // There is nothing left to do.
  const size_t count = whole.tests.size();
  EXPECT_EQ(RunExperiment(plan, whole.Callbacks(), expected), absl::OkStatus());
  EXPECT_EQ(whole.tests.size(), count);
}

TEST(RunExperimentTest, TriesAgainWhatWasOmitted) {
  FakeSequencer sequencer;
  sequencer.errors["t-off"] = absl::FailedPreconditionError("not yet");
  TestSequenceResults results;
  const ExperimentPlan plan = ExamplePlan("repeat: 1");
  ASSERT_EQ(RunExperiment(plan, sequencer.Callbacks(), results),
            absl::OkStatus());
  ASSERT_THAT(results.experiments(0).omissions(), SizeIs(1));
  ASSERT_EQ(RunExperiment(plan, sequencer.Callbacks(), results),
            absl::OkStatus());
  EXPECT_THAT(results.experiments(0).omissions(), IsEmpty());
  EXPECT_THAT(results.test_results(), SizeIs(kCells));
}

// What no other cell can be compared with.
TEST(RunExperimentTest, TriesAFalseBaselineAgainAndReplacesIt) {
  FakeSequencer sequencer;
  FailAfter(40, "t-off", sequencer);
  TestSequenceResults results;
  const ExperimentPlan plan = ExamplePlan("repeat: 1");
  ASSERT_EQ(RunExperiment(plan, sequencer.Callbacks(), results),
            absl::OkStatus());
  EXPECT_THAT(results.test_results(), SizeIs(kCells));
  EXPECT_FALSE(IsCompleteExperiment(plan, results));
  ASSERT_EQ(RunExperiment(plan, sequencer.Callbacks(), results),
            absl::OkStatus());
  EXPECT_THAT(sequencer.tests, SizeIs(kCells + 1));
  EXPECT_EQ(sequencer.tests.back().name(), "t-off");
  EXPECT_THAT(results.test_results(), SizeIs(kCells));
  EXPECT_TRUE(IsCompleteExperiment(plan, results));
}

// As when all nodes were lost with what they had recorded.
TEST(RunExperimentTest, TriesAnUnmeasuredRunAgainAndReplacesIt) {
  FakeSequencer sequencer;
  sequencer.change = [](const auto& test, TestResult& result) {
    if (test.name() == "t-off-hog") result.clear_service_logs();
  };
  TestSequenceResults results;
  const ExperimentPlan plan = ExamplePlan("repeat: 1");
  ASSERT_EQ(RunExperiment(plan, sequencer.Callbacks(), results),
            absl::OkStatus());
  EXPECT_THAT(results.test_results(), SizeIs(kCells));
  EXPECT_THAT(WithoutFigures(results),
              ElementsAre(HasSubstr("The cell (controls off, hog) was not "
                                    "measured in repetition 1")));
  EXPECT_FALSE(IsCompleteExperiment(plan, results));
  FakeSequencer again;
  ASSERT_EQ(RunExperiment(plan, again.Callbacks(), results), absl::OkStatus());
  EXPECT_THAT(again.names(), ElementsAre("t-off-hog"));
  EXPECT_THAT(results.test_results(), SizeIs(kCells));
  EXPECT_THAT(WithoutFigures(results), IsEmpty());
  EXPECT_TRUE(IsCompleteExperiment(plan, results));
}

TEST(RunExperimentTest, AddsRepetitionsToAnEarlierStart) {
  FakeSequencer sequencer;
  TestSequenceResults results;
  ASSERT_EQ(
      RunExperiment(ExamplePlan("repeat: 1"), sequencer.Callbacks(), results),
      absl::OkStatus());
  ASSERT_EQ(
      RunExperiment(ExamplePlan("repeat: 2"), sequencer.Callbacks(), results),
      absl::OkStatus());
  EXPECT_THAT(sequencer.tests, SizeIs(2 * kCells));
  EXPECT_EQ(results.experiments(0).experiment().repeat(), 2);
}

TEST(ResumptionTest, RefusesResultsOfAnotherExperimentOrTest) {
  FakeSequencer sequencer;
  TestSequenceResults results;
  ASSERT_EQ(
      RunExperiment(ExamplePlan("repeat: 1"), sequencer.Callbacks(), results),
      absl::OkStatus());
  const auto refusal = [&](const ExperimentPlan& plan) {
    return std::string(CheckExperimentResumable(plan, results).message());
  };
  EXPECT_EQ(refusal(ExamplePlan("repeat: 1")), "");
  EXPECT_THAT(refusal(ExamplePlan("repeat: 1 controls { name: 'more' }")),
              HasSubstr("another experiment; the difference"));
  ExperimentPlan other = ExamplePlan("repeat: 1");
  other.subject.mutable_rpc_descriptions(0)->set_deadline_us(5);
  EXPECT_THAT(refusal(other), HasSubstr("was run with another test"));
  EXPECT_EQ(SeedOf(results), 7);
  EXPECT_EQ(WorkersOf(results), 2);
  results.add_experiments();
  EXPECT_THAT(refusal(ExamplePlan("repeat: 1")), HasSubstr("2 experiments"));
}

TEST(RunExperimentTest, SavesAfterEachCellAndEndsIfThatFails) {
  FakeSequencer sequencer;
  ExperimentCallbacks callbacks = sequencer.Callbacks();
  std::vector<int> sizes;
  callbacks.save = [&](const TestSequenceResults& so_far) {
    sizes.push_back(so_far.test_results_size());
    return sizes.size() < 3 ? absl::OkStatus()
                            : absl::ResourceExhaustedError("disk full");
  };
  TestSequenceResults results;
  EXPECT_EQ(RunExperiment(ExamplePlan(), callbacks, results),
            absl::ResourceExhaustedError("disk full"));
  EXPECT_THAT(sizes, ElementsAre(1, 2, 3));
}

TEST(RunExperimentTest, SharesAreOfTheGivenCapacity) {
  FakeSequencer sequencer;
  TestSequenceResults results;
  const ExperimentPlan plan = ExamplePlan(
      "repeat: 1 subject { loads: ['50%', '120%'] capacity: '200/s' }");
  ASSERT_EQ(RunExperiment(plan, sequencer.Callbacks(), results),
            absl::OkStatus());
  EXPECT_DOUBLE_EQ(results.experiments(0).capacity_per_second(), 200);
  for (const TestResult& result : results.test_results()) {
    const ExperimentCell& cell = result.experiment_cell();
    if (!cell.purpose().empty()) continue;
    const double expected = cell.load() == "50%" ? 100 : 240;
    EXPECT_DOUBLE_EQ(cell.load_per_second(), expected);
    EXPECT_NEAR(static_cast<double>(base::kNsPerSecond) /
                    static_cast<double>(result.traffic_config()
                                            .actions(0)
                                            .iterations()
                                            .open_loop_interval_ns()),
                expected, 1e-3);
  }
}

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
  report = search::NewSearchReport(*search);
  const search::ProbeRequest asked =
      *search::LoadSearch(search->options).Next();
  SearchProbe& probe = *report.add_probes();
  probe.set_phase(std::string(search::ToString(asked.phase)));
  probe.set_length(asked.length);
  probe.set_requested_load(asked.load);
  probe.set_achieved_load(asked.load);
  const auto test = search::ProbeTest(
      *search, asked.load,
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
  TestSequenceResults results = InSearch(PlanThatSearches());
  EXPECT_EQ(Refusal(PlanThatSearches(), results), "");
  results.mutable_searches(0)->mutable_probes(0)->set_requested_load(1);
  EXPECT_THAT(Refusal(PlanThatSearches(), results),
              HasSubstr("is not what is asked for in its place"));
}

// The capacity of another test would be the load of every cell.
TEST(ResumeSearchTest, RefusesAnotherTest) {
  ExperimentPlan other = PlanThatSearches();
  other.subject.mutable_rpc_descriptions(0)->set_deadline_us(5);
  TestSequenceResults results = InSearch(PlanThatSearches());
  EXPECT_THAT(Refusal(other, results),
              AllOf(HasSubstr("another search"), HasSubstr("deadline_us")));
  // Also when the search has ended.
  results.mutable_searches(0)->set_verdict("converged");
  results.mutable_experiments(0)->set_capacity_per_second(350);
  EXPECT_THAT(Refusal(other, results), HasSubstr("another search"));
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
