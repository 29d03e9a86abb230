#include "distbench/products/protection/report/protection_text.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/time_units.h"
#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "distbench/products/protection/report/text_parts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

// Two values with this mean and sample deviation, in percent.
stats::ValueDistribution With(double mean, double deviation) {
  const double half = deviation / std::sqrt(2.0);
  return stats::ValueDistribution({(mean - half) / 100, (mean + half) / 100});
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
  cell.impact[kMainImpact] = stats::ValueDistribution(
      {0.25, 0.25, 0.25, stats::ValueDistribution::kInfinite});
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

}  // namespace
}  // namespace distbench::protection
