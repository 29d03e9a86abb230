// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/compare.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "distbench/report/comparison/gate.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/share_interval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const MetricComparison& Find(const std::vector<TestComparison>& comparisons,
                             const std::string& metric) {
  for (const MetricComparison& comparison :
       comparisons.at(0).rpcs.at(0).metrics) {
    if (stats::MetricName(comparison.metric) == metric) return comparison;
  }
  ADD_FAILURE() << "no " << metric;
  std::abort();
}

std::vector<Check> ChecksOf(const std::vector<std::string>& texts,
                            const std::vector<TestComparison>& comparisons) {
  std::vector<Gate> gates;
  for (const std::string& text : texts) {
    const absl::StatusOr<Gate> gate = ParseGate(text);
    EXPECT_TRUE(gate.ok()) << gate.status();
    if (gate.ok()) gates.push_back(*gate);
  }
  return JudgeGates(gates, comparisons);
}

// Returns the only check of a gate.
Check CheckOf(const std::string& gate,
              const std::vector<TestComparison>& comparisons) {
  const std::vector<Check> checks = ChecksOf({gate}, comparisons);
  EXPECT_EQ(checks.size(), 1u);
  return checks.empty() ? Check() : checks[0];
}

CheckVerdict VerdictOf(const std::string& gate,
                       const std::vector<TestComparison>& comparisons) {
  return CheckOf(gate, comparisons).verdict;
}

TEST(CompareTest, SlowerRunsAreWorse) {
  const auto compared = Compared({RunOf(1000), RunOf(1040), RunOf(960)},
                                 {RunOf(2000), RunOf(2080), RunOf(1920)});
  const MetricComparison& p99 = Find(compared, "p99");
  EXPECT_EQ(p99.verdict, ComparisonVerdict::kWorse);
  EXPECT_NEAR(p99.change.estimate, 2, 0.02);
  EXPECT_EQ(Find(compared, "rate").verdict, ComparisonVerdict::kNoDifference);
  EXPECT_EQ(compared[0].rpcs[0].latency, "service time");
}

TEST(CompareTest, FasterRunsAreBetterAndSoAreHigherRates) {
  const auto compared = Compared({RunOf(2000, 10'000), RunOf(2010, 10'100)},
                                 {RunOf(1000, 20'000), RunOf(1010, 20'100)});
  EXPECT_EQ(Find(compared, "p50").verdict, ComparisonVerdict::kBetter);
  EXPECT_EQ(Find(compared, "rate").verdict, ComparisonVerdict::kBetter);
}

// A run whose RPC has a policy; each request took so many attempts.
TestResult RetryingRun(double attempts_per_request) {
  constexpr int64_t kRequests = 10'000;
  TestResult result = RunOf(1000, kRequests);
  PolicyStatistics& policy = (*result.mutable_service_logs()
                                   ->mutable_instance_logs()
                                   ->begin()
                                   ->second.mutable_policy_statistics())[0];
  policy.set_request_count(kRequests);
  policy.set_attempt_count(
      static_cast<int64_t>(attempts_per_request * kRequests));
  policy.set_succeeded_attempt_count(kRequests);
  return result;
}

TEST(CompareTest, RpcsWithAPolicyHaveItsMeasures) {
  const auto compared = Compared({RetryingRun(1.0), RetryingRun(1.02)},
                                 {RetryingRun(1.5), RetryingRun(1.52)});
  const MetricComparison& amplification = Find(compared, "amplification");
  EXPECT_EQ(amplification.verdict, ComparisonVerdict::kWorse);
  EXPECT_NEAR(amplification.change.estimate, 1.5, 0.02);
  EXPECT_EQ(Find(compared, "wasted").verdict, ComparisonVerdict::kWorse);
  EXPECT_NEAR(Find(compared, "wasted").change.estimate, 0.33, 0.01);
  EXPECT_EQ(Find(compared, "goodput").verdict,
            ComparisonVerdict::kNoDifference);
  EXPECT_THAT(DescribeComparisons(compared),
              HasSubstr("\n    amplification        1.010        1.510 "));
  EXPECT_EQ(VerdictOf("amplification>10%", compared), CheckVerdict::kFail);
}

TEST(CompareTest, OtherRpcsDoNot) {
  const auto compared =
      Compared({RunOf(1000), RunOf(1000)}, {RetryingRun(1), RetryingRun(1)});
  EXPECT_EQ(compared[0].rpcs[0].metrics.size(), stats::DefaultMetrics().size());
  CompareOptions options;
  options.metrics = {{stats::Metric::Kind::kWasted}};
  const auto asked = Compared({RunOf(1000)}, {RunOf(1000)}, options);
  EXPECT_THAT(Find(asked, "wasted").reason, HasSubstr("no policy"));
}

TEST(CompareTest, SpreadHidesADifference) {
  const auto compared =
      Compared({RunOf(1000), RunOf(2000)}, {RunOf(1500), RunOf(900)});
  EXPECT_EQ(Find(compared, "p99").verdict, ComparisonVerdict::kNoDifference);
}

TEST(CompareTest, NeighbouringBucketsAreNoDifference) {
  const auto compared = Compared({RunOf(1'000'000), RunOf(1'000'000)},
                                 {RunOf(1'005'000), RunOf(1'005'000)});
  EXPECT_EQ(Find(compared, "p99").verdict, ComparisonVerdict::kNoDifference);
}

TEST(CompareTest, SharesOfFailuresAreSubtracted) {
  const auto compared =
      Compared({RunOf(1000, 9999, 0), RunOf(1000, 9999, 0)},
               {RunOf(1000, 9900, 100), RunOf(1000, 9900, 100)});
  const MetricComparison& failures = Find(compared, "failures");
  EXPECT_EQ(failures.verdict, ComparisonVerdict::kWorse);
  EXPECT_DOUBLE_EQ(failures.change.estimate, 0.01);
  EXPECT_EQ(VerdictOf("failures>0.5%", compared), CheckVerdict::kFail);
  EXPECT_THAT(CheckOf("failures>0.5%", compared).evidence,
              HasSubstr("+1.0 percentage points"));
  EXPECT_EQ(VerdictOf("failures>2%", compared), CheckVerdict::kPass);
}

// As objectives say of each: of 20000 RPCs without a failure, 0.018 % may fail.
TEST(CompareTest, RunsWithoutAFailureLeaveSomeOpen) {
  const std::vector<TestResult> none = {RunOf(1000), RunOf(1000)};
  const auto compared = Compared(none, none);
  const MetricComparison& failures = Find(compared, "failures");
  const double most =
      stats::IntervalOfShare({.amount = 0, .count = 20'000}, 0.025).upper;
  ASSERT_TRUE(failures.change.interval);
  EXPECT_NEAR(most, 0.000184, 1e-6);
  EXPECT_NEAR(failures.change.interval->lower, -most, 1e-12);
  EXPECT_NEAR(failures.change.interval->upper, most, 1e-12);
  EXPECT_THAT(
      DescribeComparisons(compared),
      HasSubstr("+0.000 pp  -0.018 pp to +0.018 pp no difference shown"));
}

// One of 10000 RPCs failed in each run of new, and none in those of base.
TEST(CompareTest, FewFailuresThatAgreeAreNoProof) {
  const TestResult one_failed = RunOf(1000, 9999, 1);
  const auto compared = Compared({RunOf(1000, 10'000), RunOf(1000, 10'000)},
                                 {one_failed, one_failed});
  EXPECT_EQ(Find(compared, "failures").verdict,
            ComparisonVerdict::kNoDifference);
}

TEST(CompareTest, FailuresThatDifferBetweenRunsHaveTheirSpread) {
  const auto compared =
      Compared({RunOf(1000, 9900, 100), RunOf(1000, 9500, 500)},
               {RunOf(1000, 9800, 200), RunOf(1000, 9400, 600)});
  const MetricComparison& failures = Find(compared, "failures");
  const stats::Difference between = ChangeBetweenRuns(failures, 0.95);
  EXPECT_DOUBLE_EQ(failures.change.interval->lower, between.interval->lower);
  EXPECT_DOUBLE_EQ(failures.change.interval->upper, between.interval->upper);
}

TEST(CompareTest, SingleRunsHaveNoVerdict) {
  const auto compared = Compared({RunOf(1000)}, {RunOf(2000)});
  EXPECT_EQ(Find(compared, "p99").verdict, ComparisonVerdict::kNotShown);
  EXPECT_THAT(DescribeComparisons(compared), HasSubstr("--repeat"));
  // A gate must not pass for lack of evidence.
  EXPECT_EQ(VerdictOf("p99>5%", compared), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("p99>5%", Compared({RunOf(1000)}, {RunOf(1000)})),
            CheckVerdict::kUndecided);
  EXPECT_THAT(CheckOf("p99>5%", compared).evidence, HasSubstr("--repeat"));
}

TEST(CompareTest, CopiesOfASimulatedRunAreNoRepeats) {
  const auto simulated = [](int64_t latency_ns, std::vector<uint64_t> seeds) {
    std::vector<TestResult> runs;
    for (const uint64_t seed : seeds) {
      runs.push_back(RunOf(latency_ns + 20 * static_cast<int64_t>(seed)));
      runs.back().mutable_simulation();
      runs.back().mutable_run_info()->set_random_seed(seed);
    }
    return runs;
  };
  const auto repeats =
      Compared(simulated(1000, {1, 2}), simulated(2000, {1, 2}));
  EXPECT_EQ(Find(repeats, "p99").verdict, ComparisonVerdict::kWorse);
  const auto copies =
      Compared(simulated(1000, {1, 2}), simulated(2000, {3, 3}));
  EXPECT_THAT(copies[0].not_comparable,
              HasSubstr("new has simulated runs with the same seed"));
}

TEST(CompareTest, TooFewRpcsAreNotComparable) {
  const auto compared = Compared({RunOf(1000, 500), RunOf(1000, 500)},
                                 {RunOf(1000), RunOf(1000)});
  EXPECT_EQ(Find(compared, "p99").verdict, ComparisonVerdict::kNoDifference);
  const MetricComparison& p999 = Find(compared, "p99.9");
  EXPECT_EQ(p999.verdict, ComparisonVerdict::kNotComparable);
  EXPECT_EQ(p999.reason, "too few RPCs in run 1 of 2 of base");
  EXPECT_EQ(VerdictOf("p99.9>5%", compared), CheckVerdict::kFail);
  EXPECT_THAT(CheckOf("p99.9>5%", compared).evidence,
              HasSubstr("cannot be judged: too few"));
}

TEST(CompareTest, PercentilesAmongFailuresAreNotComparable) {
  const auto compared = Compared({RunOf(1000, 9999), RunOf(1000, 9999)},
                                 {RunOf(1000, 9999), RunOf(1000, 9700, 300)});
  EXPECT_EQ(Find(compared, "p99").reason,
            "3 % of the RPCs failed in run 2 of 2 of new");
  EXPECT_EQ(Find(compared, "mean").reason,
            "3 % of the RPCs failed in run 2 of 2 of new");
  EXPECT_EQ(Find(compared, "p90").verdict, ComparisonVerdict::kNoDifference);
  EXPECT_EQ(VerdictOf("p99>5%", compared), CheckVerdict::kFail);
}

TEST(CompareTest, InvalidRunsAreNotComparable) {
  TestResult invalid = RunOf(1000);
  Finding& finding = *invalid.mutable_run_info()->add_findings();
  finding.set_severity(Finding::INVALID);
  finding.set_message("sent too late");
  const auto compared = Compared({RunOf(1000)}, {RunOf(1000), invalid});
  EXPECT_TRUE(compared[0].is_invalid);
  EXPECT_EQ(compared[0].not_comparable,
            "run 2 of 2 of new is invalid: sent too late");
  EXPECT_THAT(CheckOf("p99>5%", compared).evidence,
              HasSubstr("cannot be judged: run 2 of 2"));

  TestResult failed = RunOf(1000);
  failed.mutable_run_info()->set_failure("node1 was lost");
  EXPECT_THAT(Compared({failed}, {RunOf(1000)})[0].not_comparable,
              HasSubstr("did not run to its end: node1 was lost"));
}

// A run with a finding of each of these codes.
TestResult RunThatWarns(const std::vector<std::string>& codes) {
  TestResult result = RunOf(1000);
  for (const std::string& code : codes) {
    Finding& finding = *result.mutable_run_info()->add_findings();
    finding.set_severity(code == "a_note" ? Finding::NOTE : Finding::WARN);
    finding.set_code(code);
  }
  return result;
}

std::vector<std::string> CautionsOf(
    const std::vector<TestComparison>& compared) {
  return Cautions(CountVerdicts(compared), compared);
}

TEST(CompareTest, SaysHowManyRunsCarryWhichWarnings) {
  // Several findings of a code are one warning of the run.
  const TestResult worst =
      RunThatWarns({"stalls", "late_sends", "late_sends", "cpu_saturated"});
  const TestResult bad = RunThatWarns({"cpu_saturated", "late_sends"});
  const TestResult good = RunThatWarns({"a_note"});
  const auto compared = Compared({worst, bad}, {bad, good, good});
  EXPECT_EQ(CautionsOf(compared)[0],
            "Warnings in 2 of 2 runs of base and 1 of 3 of new: cpu_saturated, "
            "late_sends; in 1 of 2 runs of base and 0 of 3 of new: stalls.");
  EXPECT_THAT(
      DescribeComparisons(compared),
      HasSubstr("\nWarnings in 2 of 2 runs of base and 1 of 3 of new: "));
  EXPECT_THAT(DescribeComparisons(Compared({good, good}, {good, good})),
              Not(HasSubstr("Warnings")));
}

TEST(CompareTest, WarningsOfWhatIsNotComparedDoNotMatter) {
  TestResult other = RunThatWarns({"stalls"});
  other.mutable_traffic_config()
      ->mutable_rpc_descriptions(0)
      ->set_fanout_filter("random");
  EXPECT_THAT(CautionsOf(Compared({RunThatWarns({"stalls"})}, {other})),
              IsEmpty());
}

TEST(CompareTest, OtherTrafficIsNotComparableUnlessAllowed) {
  TestResult other = RunOf(1000);
  other.mutable_traffic_config()
      ->mutable_rpc_descriptions(0)
      ->set_fanout_filter("random");
  const auto compared = Compared({RunOf(1000)}, {other});
  EXPECT_FALSE(compared[0].is_invalid);
  EXPECT_THAT(compared[0].not_comparable, HasSubstr("fanout_filter"));

  CompareOptions options;
  options.allow_different_traffic = true;
  const auto allowed = Compared({RunOf(1000)}, {other}, options);
  EXPECT_THAT(allowed[0].not_comparable, IsEmpty());
  EXPECT_THAT(allowed[0].notes, ElementsAre(HasSubstr("fanout_filter")));
}

TEST(CompareTest, SaysThatRunsAreComparedWithThemselves) {
  std::vector<TestResult> runs;
  for (const int64_t start_ns : {kSecondNs, 2 * kSecondNs, 3 * kSecondNs}) {
    runs.push_back(RunOf(1000));
    runs.back().mutable_run_info()->set_start_timestamp_ns(start_ns);
  }
  EXPECT_THAT(Compared(runs, {runs[1], RunOf(1000)})[0].notes,
              ElementsAre(HasSubstr("1 of 2 new runs are also among those of "
                                    "base")));
  EXPECT_THAT(Compared({runs[0]}, {runs[1]})[0].notes, IsEmpty());
}

TEST(CompareTest, TestsAreAlignedByName) {
  TestResult a = RunOf(1000);
  a.mutable_traffic_config()->set_name("a");
  TestResult b = RunOf(1000);
  b.mutable_traffic_config()->set_name("b");
  TestResult c = RunOf(1000);
  c.mutable_traffic_config()->set_name("c");
  const auto compared = Compared({a, b}, {c, b});
  ASSERT_EQ(compared.size(), 3);
  EXPECT_EQ(compared[0].not_comparable, "it is in base only");
  EXPECT_EQ(compared[0].base_name, "a");
  EXPECT_EQ(compared[0].next_name, "");
  EXPECT_EQ(compared[1].not_comparable, "");
  EXPECT_EQ(compared[2].not_comparable, "it is in new only");
}

TEST(CompareTest, ResponseTimesAreComparedIfBothHaveThem) {
  TestResult open = RunOf(1000);
  *StatisticsOf(open).mutable_response_time_ns() =
      StatisticsOf(open).service_time_ns();
  EXPECT_EQ(Compared({open}, {open})[0].rpcs[0].latency, "response time");
  EXPECT_EQ(Compared({open}, {RunOf(1000)})[0].rpcs[0].latency, "service time");
}

TEST(CompareTextTest, IsATableWithVerdicts) {
  CompareOptions options;
  options.metrics = {{stats::Metric::Kind::kPercentile, 99},
                     {stats::Metric::Kind::kRate}};
  EXPECT_EQ(DescribeComparisons(Compared({RunOf(1'000'000), RunOf(1'000'000)},
                                         {RunOf(2'000'000), RunOf(2'000'000)},
                                         options)),
            "Test: t (base: 2 runs, new: 2 runs)\n"
            "  query, service time:\n"
            "                     base          new     change  95 % interval"
            "          verdict\n"
            "    p99           1.00 ms      2.00 ms     x2.000  x2.000 to "
            "x2.000       worse\n"
            "    rate         10.0 k/s     10.0 k/s     x1.000  x1.000 to "
            "x1.000       no difference shown\n"
            "    distribution: unknown: so few runs cannot show a difference; "
            "run both with --repeat=4 or more\n"
            "2 verdicts. If nothing has changed, about one in 20 says better, "
            "worse or differs by chance.\n");
}

TEST(GateTest, LimitsHoldInTheirDirectionOnly) {
  const auto slower =
      Compared({RunOf(1000), RunOf(1010)}, {RunOf(1200), RunOf(1210)});
  const Check check = CheckOf("p99>5%", slower);
  EXPECT_EQ(check.verdict, CheckVerdict::kFail);
  EXPECT_EQ(check.test, "t");
  EXPECT_EQ(check.condition, "query:p99>5%");
  EXPECT_THAT(check.evidence, HasSubstr("p99 changed by +19"));
  EXPECT_EQ(VerdictOf("p99 > 30%", slower), CheckVerdict::kPass);
  EXPECT_EQ(VerdictOf("p99<-5%", slower), CheckVerdict::kPass);
  EXPECT_EQ(VerdictOf("query:p99>5%", slower), CheckVerdict::kFail);
  const auto fewer = Compared({RunOf(1000, 10'000), RunOf(1000, 10'100)},
                              {RunOf(1000, 8000), RunOf(1000, 8100)});
  EXPECT_EQ(VerdictOf("rate<-3%", fewer), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("rate<-30%", fewer), CheckVerdict::kPass);
}

TEST(GateTest, ThinEvidenceDoesNotDecide) {
  // 20 % slower on the whole, but within the spread between runs.
  const Check check = CheckOf("p99>5%", Compared({RunOf(1000), RunOf(2000)},
                                                 {RunOf(1200), RunOf(2400)}));
  EXPECT_EQ(check.verdict, CheckVerdict::kUndecided);
  EXPECT_THAT(check.evidence, HasSubstr("runs of each would decide"));
}

// More judgements make the bounds of each wider.
TEST(GateTest, JudgementsShareTheError) {
  const auto compared = Compared({RunOf(1000), RunOf(1010), RunOf(1020)},
                                 {RunOf(1030), RunOf(1040), RunOf(1050)});
  EXPECT_EQ(VerdictOf("p99>7%", compared), CheckVerdict::kPass);
  std::vector<std::string> gates(20, "p99>7%");
  const std::vector<Check> checks = ChecksOf(gates, compared);
  ASSERT_EQ(checks.size(), gates.size());
  EXPECT_EQ(checks[0].verdict, CheckVerdict::kUndecided);
  EXPECT_THAT(checks[0].evidence, HasSubstr("(one-sided 99.75 % bounds: "));
}

TEST(GateTest, AnRpcThatNobodyHasFails) {
  const Check check =
      CheckOf("other:p99>5%", Compared({RunOf(1000)}, {RunOf(1000)}));
  EXPECT_EQ(check.verdict, CheckVerdict::kFail);
  EXPECT_THAT(check.evidence, HasSubstr("no test of both results has an RPC"));
  EXPECT_EQ(CheckOf("p99>5%", Compared({}, {})).evidence,
            "cannot be judged: there is no RPC to judge");
}

TEST(GateTest, SyntaxErrorsSayWhatIsRight) {
  for (const char* wrong :
       {"", "p99", "p99>5", "p99>x%", "q99>5%", "p100>5%", "p99>nan%",
        "p99>inf%", "p0>5%", ":>5%", "a:b>5%", "p99<-100%"}) {
    const absl::StatusOr<Gate> gate = ParseGate(wrong);
    EXPECT_FALSE(gate.ok()) << wrong;
    EXPECT_THAT(std::string(gate.status().message()), HasSubstr("p99"))
        << wrong;
  }
}

// ---- False positives of comparisons of equals -------------------------------

// A run of 2000 RPCs. As in reality, runs differ by more than the differences
// between their RPCs explain.
TestResult RandomRun(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double run_factor = std::exp(0.05 * normal(random));
  const int64_t count = 2000;
  results::RpcTotals totals;
  for (int i = 0; i < count; ++i) {
    totals.service_time_ns.Record(
        std::llround(1e6 * run_factor * std::exp(0.5 * normal(random))));
  }
  totals.counts.succeeded_count = count;
  return RunWith(std::move(totals),
                 std::llround(kSecondNs * std::exp(0.05 * normal(random))));
}

std::vector<TestResult> RandomRuns(int count, std::mt19937_64& random) {
  std::vector<TestResult> runs;
  for (int i = 0; i < count; ++i) runs.push_back(RandomRun(random));
  return runs;
}

TEST(CompareSimulationTest, EqualsAreToldApartAsOftenAsPromised) {
  constexpr int kComparisons = 1000;
  constexpr int kRuns = 5;
  std::mt19937_64 random(2024);
  CompareOptions options;
  options.metrics = {{stats::Metric::Kind::kPercentile, 50},
                     {stats::Metric::Kind::kPercentile, 99},
                     {stats::Metric::Kind::kRate}};
  std::map<std::string, int> better;
  std::map<std::string, int> worse;
  int distributions = 0;
  for (int i = 0; i < kComparisons; ++i) {
    const auto compared =
        Compared(RandomRuns(kRuns, random), RandomRuns(kRuns, random), options);
    for (const MetricComparison& metric : compared[0].rpcs[0].metrics) {
      const std::string name = stats::MetricName(metric.metric);
      better[name] += metric.verdict == ComparisonVerdict::kBetter;
      worse[name] += metric.verdict == ComparisonVerdict::kWorse;
    }
    distributions += compared[0].rpcs[0].distribution.differs();
  }
  for (const stats::Metric& metric : options.metrics) {
    const std::string name = stats::MetricName(metric);
    // Binomial: 5 % of 1000, half of them in each direction, plus or minus 3.3
    // standard errors.
    EXPECT_NEAR(better[name] + worse[name], 50, 23) << name;
    EXPECT_NEAR(better[name], 25, 17) << name;
    EXPECT_NEAR(worse[name], 25, 17) << name;
  }
  // Of 252 divisions, 12 are enough: 4.8 %.
  EXPECT_NEAR(distributions, 48, 22);
}

}  // namespace
}  // namespace distbench::report
