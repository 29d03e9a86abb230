// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/report/protection_text.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/time_units.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> LinesWith(const std::string& text,
                                   const std::string& start) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, start)) lines.emplace_back(line);
  }
  return lines;
}

std::vector<std::string> UnmeasuredIn(const TestSequenceResults& results) {
  std::vector<std::string> sentences;
  for (const UnmeasuredRun& run : UnmeasuredRuns(results)) {
    sentences.push_back(run.sentence);
  }
  return sentences;
}

// Two values with this mean and sample deviation, in percent.
ValueDistribution With(double mean, double deviation) {
  const double half = deviation / std::sqrt(2.0);
  return ValueDistribution({(mean - half) / 100, (mean + half) / 100});
}

// The line that this form comes from.
TEST(ResultLineTest, IsInTheKnownForm) {
  ProtectionCell cell;
  cell.isolation = With(45.50, 30.72);
  cell.impact[kMainImpact] = With(39.42, 81.53);
  cell.missing_share = 0.0026;
  WorkConservation& work = cell.conservation.emplace_back();
  work.antagonist_alone = 1;
  work.share = 1;
  EXPECT_EQ(ResultLine(cell),
            "Result: isol=45.50:30.72% lat_imp=39.42%:81.53 work_csv=100.0% "
            "missing=0.26%");
  work.share = 0.4289;
  cell.missing_share = 0;
  EXPECT_THAT(ResultLine(cell), HasSubstr(" work_csv=42.89% missing=0%"));
}

TEST(ResultLineTest, NamesWhatWasNotAccountedAndWhatFailed) {
  ProtectionCell cell;
  cell.isolation = With(20, 0);
  cell.impact[kMainImpact] =
      ValueDistribution({0.25, 0.25, 0.25, ValueDistribution::kInfinite});
  cell.failed_share = 0.25;
  EXPECT_EQ(ResultLine(cell),
            "Result: isol=20.00:0% lat_imp=25.00%:0 work_csv=not_accounted "
            "missing=0% lat_imp_failed=25.00% FAIL=25.00%");
}

TEST(ProtectionTextTest, KnownInterferenceGivesKnownNumbers) {
  ExampleRun run = SteadyRun(200, kMillisecond);
  for (ExampleSecond& second : run.seconds) second.cpus_used = 0.5;
  for (ExampleSecond* second : InterferenceOf(run)) {
    second->latency_ns.assign(100, 3 * kMillisecond);
    second->cpus_used = 1.5;
  }
  ExampleRun alone = SteadyRun(0, 0);
  alone.purpose = "antagonist_alone";
  for (ExampleSecond* second : InterferenceOf(alone)) second->cpus_used = 2;
  const std::string text = ProtectionText(ResultsOf({run, alone}));
  EXPECT_THAT(text, HasSubstr("\nResult: isol=50.00:0% lat_imp=200.0%:0 "
                              "work_csv=75.00% missing=0%\n"));
  EXPECT_THAT(text, HasSubstr("Recovered: after 0 s\n"));
}

TEST(ProtectionTextTest, HasATableAndASummaryOfEachCell) {
  const std::string text = ProtectionText(MakeExampleExperiment());
  EXPECT_THAT(text, StartsWith("Protection: protected, RPC query, p99<=20ms, "
                               "capacity 125 per second\n"));
  EXPECT_THAT(text, HasSubstr("\np05: mean of the runs' own p05; that of all "
                              "seconds is in the distributions.\n"));
  EXPECT_EQ(LinesWith(text, "  off ").size(), 3);
  EXPECT_EQ(LinesWith(text, "  on ").size(), 3);
  EXPECT_EQ(LinesWith(text, "Result: ").size(), 6);
  EXPECT_THAT(text, HasSubstr("\nhog Summary (controls off, load 80%)\n"
                              "====================================\n"));
  EXPECT_THAT(text, HasSubstr("\nSummary without antagonist (controls on"));
  EXPECT_THAT(text, HasSubstr("Antagonist's IO Latency: R p50="));
  EXPECT_THAT(text, HasSubstr("Antagonist: 80 of 100 iterations per second, "
                              "1 MiB/s; alone: "));
  EXPECT_THAT(text, HasSubstr("Note: The device has no io.cost"));
  EXPECT_THAT(text, HasSubstr("Work, activity_bytes: not accounted: the "
                              "subject alone did not use it\n"));
}

// A mean of the seconds that did not fail would look like protection.
TEST(ProtectionTextTest, TheTableTellsWhichMeansLeaveFailuresOut) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  EXPECT_THAT(ProtectionText(ResultsOf({run})), Not(HasSubstr("p95 was fail")));
  const std::vector<ExampleSecond*> interference = InterferenceOf(run);
  interference[0]->failed_count = 10;
  std::string text = ProtectionText(ResultsOf({run}));
  EXPECT_THAT(text, HasSubstr("  0*  "));
  EXPECT_THAT(text, HasSubstr("*: without the seconds whose p95 was failed"));
  for (ExampleSecond* second : interference) second->failed_count = 10;
  text = ProtectionText(ResultsOf({run}));
  EXPECT_THAT(LinesWith(text, "  off "), ElementsAre(HasSubstr("  fail  ")));
}

// By it one sees whether noise alone would count as not recovered.
TEST(ProtectionTextTest, CellsWithoutAntagonistHaveATimeToRecover) {
  ExampleRun run = SteadyRun(100, kMillisecond);
  run.antagonist.clear();
  for (ExampleSecond* second : RecoveryOf(run)) {
    second->latency_ns.assign(100, 2 * kMillisecond);
  }
  const std::string text = ProtectionText(ResultsOf({run}));
  EXPECT_THAT(text, HasSubstr("\nRecovered: not within 10 s\n"));
  EXPECT_THAT(LinesWith(text, "  off "), ElementsAre(HasSubstr("  no  ")));
}

TEST(ProtectionTextTest, ARunThatTheAntagonistEndedHasNoRecovery) {
  TestSequenceResults results = ResultsOf({SteadyRun(100, kMillisecond)});
  TestResult& result = *results.mutable_test_results(0);
  (*result.mutable_service_logs()->mutable_instance_logs())["antagonist_hog/0"]
      .set_measurements_end_timestamp_ns(0);
  result.mutable_run_info()->set_failure("antagonist_hog/0 was killed");
  result.mutable_run_info()->set_end_timestamp_ns((kExampleStartSecond + 15) *
                                                  base::kNsPerSecond);
  const std::string text = ProtectionText(results);
  EXPECT_THAT(text, HasSubstr("\nRecovered: not measured\n"));
  EXPECT_THAT(LinesWith(text, "  off "), ElementsAre(Not(HasSubstr("  no  "))));
}

TEST(ProtectionTextTest, TellsWhatWasNotMeasured) {
  ExampleRun silent = SteadyRun(0, kMillisecond);
  TestSequenceResults results = ResultsOf({silent});
  EXPECT_THAT(ProtectionText(results), HasSubstr("Run 1: not measured: "));
  EXPECT_THAT(ProtectionText(results), HasSubstr("\nResult: not measured\n"));
  results.mutable_experiments(0)
      ->mutable_experiment()
      ->mutable_subject()
      ->clear_rpc();
  EXPECT_THAT(ProtectionText(results),
              HasSubstr("Not measured: the experiment of the result does not "
                        "name the subject's RPC\n"));
  EXPECT_EQ(ProtectionText(TestSequenceResults()), "");
}

TEST(ProtectionTextTest, NotesHowARunDiffers) {
  TestSequenceResults results = ResultsOf({SteadyRun(100, kMillisecond)});
  TestResult& result = *results.mutable_test_results(0);
  EXPECT_THAT(ProtectionText(results), Not(HasSubstr("\nRun 1:")));
  result.mutable_experiment_cell()->set_is_stable(false);
  result.mutable_experiment_cell()->set_stability("its rate fell");
  result.mutable_run_info()->set_failure("server/0 was killed");
  result.mutable_run_info()->set_end_timestamp_ns((kExampleStartSecond + 15) *
                                                  base::kNsPerSecond);
  const std::string text = ProtectionText(results);
  EXPECT_THAT(text, HasSubstr("\nRun 1: it failed: server/0 was killed; the "
                              "subject did not hold still before: its rate "
                              "fell\n"));
  EXPECT_THAT(text, HasSubstr("isol=50.00:52.70% lat_imp=0%:0"));
  EXPECT_THAT(text, HasSubstr(" lat_imp_failed=50.00% FAIL=50.00%\n"));
  EXPECT_THAT(text, HasSubstr("Recovered: not within 10 s\n"));
}

// 1 000 values of which the columns of the table are the given ones.
ValueDistribution WithColumns(const std::vector<double>& percents) {
  constexpr int kPositions[] = {0,   10,  50,  100, 250, 500,
                                750, 900, 950, 990, 999};
  std::vector<double> values;
  for (size_t i = 0; i < percents.size(); ++i) {
    const int count = i == 0 ? 1 : kPositions[i] - kPositions[i - 1];
    values.insert(values.end(), count, percents[i] / 100);
  }
  return ValueDistribution(values);
}

// Rows of the report that this form comes from.
TEST(ProtectionFormatTest, RowsAreInTheKnownForm) {
  const std::string header = DistributionHeader();
  EXPECT_EQ(header,
            "              min   p01   p05   p10   p25   p50   p75   p90   p95"
            "   p99   max  mean stdev");
  const std::string isolation = FormatDistribution(
      "isol%", WithColumns({0, 0.49, 1.65, 2.24, 13.12, 50.90, 72.52, 82.12,
                            88.56, 100, 100}));
  EXPECT_TRUE(absl::StartsWith(
      isolation,
      "isol%           0  0.49  1.65  2.24 13.12 50.90 72.52 82.12 88.56 100.0"
      " 100.0 "))
      << isolation;
  EXPECT_EQ(isolation.size(), header.size());
  const std::string impact = FormatDistribution(
      "lat-imp%",
      WithColumns({0, 0, 0, 0, 4.69, 17, 40.54, 75.06, 121.9, 380.3, 882.5}));
  EXPECT_TRUE(absl::StartsWith(
      impact,
      "lat-imp%        0     0     0     0  4.69 17.00 40.54 75.06 121.9 380.3"
      " 882.5 "))
      << impact;
}

TEST(ProtectionFormatTest, RowsWithoutNumbersSaySo) {
  EXPECT_EQ(FormatDistribution("isol%", ValueDistribution()),
            "isol%       not measured");
  const std::string failed = FormatDistribution(
      "lat-imp%", ValueDistribution({ValueDistribution::kInfinite}));
  EXPECT_TRUE(absl::EndsWith(failed, "  fail  fail     -     -")) << failed;
}

TEST(ProtectionFormatTest, SharesFitTheirColumn) {
  EXPECT_EQ(FormatShare(0), "0");
  EXPECT_EQ(FormatShare(0.00004), "0.00");
  EXPECT_EQ(FormatShare(0.455), "45.50");
  EXPECT_EQ(FormatShare(0.99994), "99.99");
  EXPECT_EQ(FormatShare(0.99996), "100.0");
  EXPECT_EQ(FormatShare(9.9994), "999.9");
  EXPECT_EQ(FormatShare(9.9996), "1000");
  EXPECT_EQ(FormatShare(999.994), "99999");
  EXPECT_EQ(FormatShare(12345), "1e+06");
  EXPECT_EQ(FormatShare(ValueDistribution::kInfinite), "fail");
}

TEST(ProtectionFormatTest, LatenciesAreShort) {
  EXPECT_EQ(FormatLatency(0), "0");
  EXPECT_EQ(FormatLatency(42'200), "42.2u");
  EXPECT_EQ(FormatLatency(885'000), "885u");
  EXPECT_EQ(FormatLatency(999'600), "1.0m");
  EXPECT_EQ(FormatLatency(3'700'000), "3.7m");
  EXPECT_EQ(FormatLatency(49'500'000), "49.5m");
  EXPECT_EQ(FormatLatency(99'960'000), "100m");
  EXPECT_EQ(FormatLatency(150'000'000), "150m");
  EXPECT_EQ(FormatLatency(1'500'000'000), "1.5s");
  EXPECT_EQ(FormatLatency(250), "250n");
}

TEST(ProtectionFormatTest, NestedLatenciesAreMeanDeviationAndMaximum) {
  const NestedLatencies latencies = {
      .p50 = ValueDistribution({1'000'000, 3'000'000}),
      .p90 = ValueDistribution({2'000'000, 2'000'000}),
      .p99 = ValueDistribution({150'000'000, 150'000'000}),
      .max = ValueDistribution({500, 500})};
  EXPECT_EQ(FormatNestedLatencies(latencies),
            "p50=2.0m:1.4m/3.0m p90=2.0m:0/2.0m p99=150m:0/150m "
            "max=500n:0/500n");
  EXPECT_EQ(FormatNestedLatencies({}), "");
}

}  // namespace

// Runs whose figures look good, or exact, and mean nothing: the report must say
// so.

namespace {

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
  EXPECT_THAT(UnmeasuredIn(ResultsOf({GoodRun()}, kObjective)), IsEmpty());
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
      AllOf(HasSubstr("only 90 % of the requests of its baseline were served"),
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
  EXPECT_THAT(NotesAbout(run), HasSubstr("only 94.3 % of the requests"));
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
              HasSubstr("only 80 % of the requests of its baseline were served "
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
      AllOf(HasSubstr("only 10 % of the requests"),
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
      UnmeasuredIn(results),
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
  EXPECT_THAT(UnmeasuredIn(results),
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
