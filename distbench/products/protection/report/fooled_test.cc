// Runs whose figures look good, or exact, and mean nothing: the report must say
// so.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "distbench/base/time_units.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/products/protection/measures/notes.h"
#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "distbench/products/protection/report/protection_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kObjective[] = "p99<=20ms";

// A subject that nothing disturbs, beside an antagonist that works.
ExampleRun GoodRun() {
  ExampleRun run = SteadyRun(100, kMillisecond);
  for (ExampleSecond* second : InterferenceOf(run)) second->completed_count = 9;
  return run;
}

std::vector<ExampleSecond*> BaselineOf(ExampleRun& run) {
  std::vector<ExampleSecond*> seconds;
  for (int i = 0; i < run.baseline_s; ++i) seconds.push_back(&run.seconds[i]);
  return seconds;
}

// The notes about the only run.
std::string NotesIn(const std::string& text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "Run 1: ")) return std::string(line);
  }
  return "";
}

std::string NotesAbout(const ExampleRun& run) {
  return NotesIn(ProtectionText(ResultsOf({run}, kObjective)));
}

// Ends the run with a failure of the subject, this long after its baseline
// began.
void FailAt(int64_t second, TestResult& result) {
  result.mutable_run_info()->set_failure("node1 was lost");
  result.mutable_run_info()->set_end_timestamp_ns(
      (kExampleStartSecond + second) * base::kNsPerSecond);
}

TEST(FooledTest, AGoodRunHasNoNotes) {
  const std::string text = ProtectionText(ResultsOf({GoodRun()}, kObjective));
  EXPECT_THAT(text, Not(HasSubstr("Note: ")));
  EXPECT_EQ(NotesIn(text), "");
  EXPECT_THAT(text, HasSubstr("\nResult: isol=100.0:0%"));
  EXPECT_THAT(UnmeasuredRuns(ResultsOf({GoodRun()}, kObjective)), IsEmpty());
}

// Isolation of 100 % then means: as bad as before.
TEST(FooledTest, RequestsThatFailInTheBaseline) {
  ExampleRun run = GoodRun();
  for (ExampleSecond& second : run.seconds) {
    second.latency_ns.resize(90);
    second.failed_count = 10;
  }
  const std::string text = ProtectionText(ResultsOf({run}));
  EXPECT_THAT(text, HasSubstr("\nResult: isol=100.0:0% lat_imp=-%:- "));
  EXPECT_THAT(
      NotesIn(text),
      AllOf(HasSubstr("only 90% of the requests of its baseline were served"),
            HasSubstr("the p95 of its baseline is failed, so it has no "
                      "lat-imp% and no time to recover")));
  // Nothing can show that it recovered, or that it did not.
  EXPECT_THAT(text, HasSubstr("\nRecovered: not measured\n"));
}

TEST(FooledTest, AFewFailuresAreNoise) {
  ExampleRun run = GoodRun();
  for (ExampleSecond& second : run.seconds) second.failed_count = 5;
  EXPECT_EQ(NotesAbout(run), "");
  for (ExampleSecond& second : run.seconds) second.failed_count = 6;
  EXPECT_THAT(NotesAbout(run), HasSubstr("only 94.3% of the requests"));
}

// What was due counts, and not only what ended: a queue that grows at a
// constant rate looks steady after some minutes.
TEST(FooledTest, LoadAboveTheCapacityInTheBaseline) {
  const ExampleRun run = GoodRun();
  TestSequenceResults results = ResultsOf({run});
  RpcTimeSeries& series = (*(*results.mutable_test_results(0)
                                  ->mutable_service_logs()
                                  ->mutable_instance_logs())["client/0"]
                                .mutable_rpc_time_series())[0];
  for (RpcInterval& interval : *series.mutable_intervals()) {
    interval.set_offered_count(125);
  }
  EXPECT_THAT(NotesIn(ProtectionText(results)),
              HasSubstr("only 80% of the requests of its baseline were served "
                        "within the objective"));
}

// One lucky second makes a baseline out of an objective that nothing meets.
TEST(FooledTest, AnObjectiveThatHardlyAnythingMeets) {
  ExampleRun run = GoodRun();
  for (ExampleSecond& second : run.seconds) {
    second.latency_ns.assign(100, 25 * kMillisecond);
  }
  run.seconds[0].latency_ns.assign(100, kMillisecond);
  EXPECT_THAT(
      NotesAbout(run),
      AllOf(HasSubstr("only 10% of the requests"),
            HasSubstr("nothing was served in 9 of the 10 seconds of its "
                      "baseline")));
}

TEST(FooledTest, AnObjectiveThatNothingMeets) {
  ExampleRun run = GoodRun();
  for (ExampleSecond& second : run.seconds) {
    second.latency_ns.assign(100, 25 * kMillisecond);
  }
  const TestSequenceResults results = ResultsOf({run}, kObjective);
  EXPECT_THAT(ProtectionText(results), HasSubstr("\nResult: not measured\n"));
  // So that the command does not end as if all were well.
  EXPECT_THAT(
      UnmeasuredRuns(results),
      ElementsAre(HasSubstr(
          "The cell (controls off, hog) was not measured in repetition 1: no "
          "request was served within the objective in the 10 whole seconds of "
          "the baseline")));
}

TEST(FooledTest, ASubjectThatIsSilentInPartOfItsBaseline) {
  ExampleRun run = GoodRun();
  run.is_open_loop = false;
  for (int i = 4; i < 8; ++i) BaselineOf(run)[i]->latency_ns.clear();
  EXPECT_THAT(NotesAbout(run), HasSubstr("nothing was served in 4 of the 10 "
                                         "seconds of its baseline"));
}

TEST(FooledTest, ABaselineOfASecond) {
  ExampleRun run = GoodRun();
  run.baseline_s = 1;
  run.interfere_s = 19;
  EXPECT_THAT(
      NotesAbout(run),
      HasSubstr("whole intervals of its baseline: only 1, of 1 s each"));
  run.baseline_s = 3;
  run.interfere_s = 17;
  EXPECT_EQ(NotesAbout(run), "");
}

TEST(FooledTest, AnAntagonistThatDidNothing) {
  ExampleRun run = GoodRun();
  for (ExampleSecond* second : InterferenceOf(run)) second->completed_count = 0;
  TestSequenceResults results = ResultsOf({run});
  EXPECT_THAT(ProtectionText(results),
              HasSubstr("\nNote: the antagonist completed nothing beside the "
                        "subject, so nothing shows that it interfered\n"));
  auto& logs = *results.mutable_test_results(0)
                    ->mutable_service_logs()
                    ->mutable_instance_logs();
  logs["antagonist_hog/0"].clear_activity_logs();
  EXPECT_THAT(ProtectionText(results),
              HasSubstr("\nNote: no work of the antagonist was recorded"));
  // Its count was lost with it. That it was lost is said elsewhere.
  logs["antagonist_hog/0"].set_measurements_end_timestamp_ns(0);
  FailAt(15, *results.mutable_test_results(0));
  EXPECT_THAT(ProtectionText(results),
              AllOf(Not(HasSubstr("no work of the antagonist was recorded")),
                    HasSubstr("the antagonist was lost")));
}

TEST(FooledTest, ACellWithoutAntagonistNeedsNoWorkOfOne) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  run.antagonist.clear();
  EXPECT_THAT(ProtectionText(ResultsOf({run})), Not(HasSubstr("Note: ")));
}

// Phases are by the sequencer's clock, and seconds by those of the nodes.
TEST(FooledTest, AClockThatDiffers) {
  ExampleRun run = GoodRun();
  TestSequenceResults results = ResultsOf({run});
  RunInfo& info = *results.mutable_test_results(0)->mutable_run_info();
  const int64_t start_ns = info.start_timestamp_ns();
  const int64_t end_ns = info.end_timestamp_ns();
  const auto expect_note = [&](bool expected) {
    EXPECT_EQ(absl::StrContains(NotesIn(ProtectionText(results)),
                                "clocks were set, or differ"),
              expected);
  };
  // Intervals begin with seconds, and runs do not.
  info.set_start_timestamp_ns(start_ns + base::kNsPerSecond);
  info.set_end_timestamp_ns(end_ns - base::kNsPerSecond);
  expect_note(false);
  info.set_start_timestamp_ns(start_ns + 2 * base::kNsPerSecond);
  expect_note(true);
  info.set_start_timestamp_ns(start_ns);
  info.set_end_timestamp_ns(end_ns - 2 * base::kNsPerSecond);
  expect_note(true);
  // A run that failed ends while requests are under way.
  info.set_failure("node1 was lost");
  expect_note(false);
}

TEST(FooledTest, ANodeThatIsLostWhileTheSubjectRecovers) {
  ExampleRun run = GoodRun();
  for (ExampleSecond* second : RecoveryOf(run)) {
    second->latency_ns.assign(100, 2 * kMillisecond);
  }
  TestSequenceResults results = ResultsOf({run});
  FailAt(22, *results.mutable_test_results(0));
  // Two seconds show nothing.
  std::string text = ProtectionText(results);
  EXPECT_THAT(text, HasSubstr("\nRecovered: not measured\n"));
  EXPECT_THAT(NotesIn(text), HasSubstr("it failed: node1 was lost"));
  // Nothing of the interference is lost.
  EXPECT_THAT(text, HasSubstr("\nResult: isol=100.0:0%"));
  EXPECT_THAT(text, Not(HasSubstr("FAIL=")));
  FailAt(26, *results.mutable_test_results(0));
  EXPECT_THAT(ProtectionText(results),
              HasSubstr("\nRecovered: not within 6 s\n"));
}

// The mean over those that are left would look like a mean over all.
TEST(FooledTest, RepetitionsThatFailed) {
  ExampleRun failed = GoodRun();
  failed.repetition = 1;
  TestSequenceResults results = ResultsOf({GoodRun(), failed});
  FailAt(5, *results.mutable_test_results(1));
  const std::string text = ProtectionText(results);
  EXPECT_THAT(text, HasSubstr("  1/2  "));
  EXPECT_THAT(text, HasSubstr("\nRun 2: not measured: the run ended before or "
                              "in its baseline: node1 was lost\n"));
  EXPECT_THAT(UnmeasuredRuns(results),
              ElementsAre(HasSubstr("in repetition 2: the run ended")));
}

TEST(FooledTest, ACellThatWasNeverRun) {
  TestSequenceResults results = MakeExampleExperiment();
  EXPECT_THAT(ProtectionText(results), Not(HasSubstr("is not complete")));
  auto& runs = *results.mutable_test_results();
  for (int i = runs.size() - 1; i >= 0; --i) {
    const ExperimentCell& cell = runs.Get(i).experiment_cell();
    if (cell.controls() == "on" && cell.antagonist() == "hog") {
      runs.DeleteSubrange(i, 1);
    }
  }
  EXPECT_THAT(
      ProtectionText(results),
      HasSubstr("\nNote: the experiment is not complete; missing are (controls "
                "on, hog, 80%) in repetition 1, (controls on, hog, 80%) in "
                "repetition 2, (controls on, hog, 80%) in repetition 3. "));
  runs.Clear();
  EXPECT_THAT(ProtectionText(results), HasSubstr(", 21 more. distbench"));
}

// A damaged result may ask for any number of runs.
TEST(FooledTest, MissingRunsOfADamagedExperimentAreNotListed) {
  TestSequenceResults results = MakeExampleExperiment();
  results.mutable_experiments(0)->mutable_experiment()->set_repeat(
      std::numeric_limits<int32_t>::max());
  EXPECT_THAT(MeasureExperiments(results)[0].missing_runs, IsEmpty());
}

TEST(FooledTest, ClosedLoopsBesideOpenOnes) {
  TestSequenceResults results = ResultsOf({GoodRun()});
  auto& logs = *results.mutable_test_results(0)
                    ->mutable_service_logs()
                    ->mutable_instance_logs();
  RpcTimeSeries& closed = (*logs["client/1"].mutable_rpc_time_series())[0];
  closed = logs["client/0"].rpc_time_series().at(0);
  for (RpcInterval& interval : *closed.mutable_intervals()) {
    interval.clear_offered_count();
    interval.clear_response_time_ns();
  }
  EXPECT_THAT(NotesIn(ProtectionText(results)),
              HasSubstr("1000 requests of its baseline have no response time"));
}

}  // namespace
}  // namespace distbench::protection
