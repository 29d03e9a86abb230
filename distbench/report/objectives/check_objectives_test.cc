#include "distbench/report/objectives/check_objectives.h"

#include <string>
#include <vector>

#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

// RPCs of 1, 2, ... ms, in a second.
TestResult ResultOf(int count, int failed_count,
                    const std::vector<std::string>& objectives) {
  TestResult result;
  DistributedSystemDescription& config = *result.mutable_traffic_config();
  config.set_name("t");
  config.add_rpc_descriptions()->set_name("query");
  for (const std::string& text : objectives) config.add_objectives(text);
  results::RpcTotals totals;
  for (int i = 1; i <= count; ++i) {
    totals.service_time_ns.Record(i * int64_t{1'000'000});
  }
  totals.counts.succeeded_count = count;
  totals.counts.failed_count = failed_count;
  totals.counts.first_start_timestamp_ns = 0;
  totals.counts.last_end_timestamp_ns = 1'000'000'000;
  auto& client =
      (*result.mutable_service_logs()->mutable_instance_logs())["c/0"];
  totals.Encode(*(*(*client.mutable_peer_logs())["s/0"].mutable_rpc_logs())[0]
                     .mutable_statistics());
  return result;
}

CheckVerdict VerdictOf(const std::string& objective, int count,
                       int failed_count = 0) {
  const std::vector<Check> checks =
      CheckObjectives(ResultOf(count, failed_count, {objective}));
  EXPECT_EQ(checks.size(), 1u);
  return checks.empty() ? CheckVerdict::kUndecided : checks[0].verdict;
}

TEST(CheckObjectivesTest, TheIntervalDecides) {
  // The median of 1 to 1000 ms is 500 ms, with an interval of about 31 ms on
  // either side.
  EXPECT_EQ(VerdictOf("p50<=600ms", 1000), CheckVerdict::kPass);
  EXPECT_EQ(VerdictOf("p50<=510ms", 1000), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("p50<=400ms", 1000), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("mean<=600ms", 1000), CheckVerdict::kPass);
  EXPECT_EQ(VerdictOf("mean<=400ms", 1000), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("rate>=900", 1000), CheckVerdict::kPass);
  EXPECT_EQ(VerdictOf("rate>=1000", 1000), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("rate>=1200", 1000), CheckVerdict::kFail);
}

TEST(CheckObjectivesTest, FewRpcsDoNotProveRareFailures) {
  EXPECT_EQ(VerdictOf("failures<=0.1%", 10), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("failures<=0.1%", 10'000), CheckVerdict::kPass);
  EXPECT_EQ(VerdictOf("failures<=0.1%", 10'000, 100), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("p99.9<=1000s", 100), CheckVerdict::kUndecided);
}

TEST(CheckObjectivesTest, FailuresAreNoLatencies) {
  EXPECT_EQ(VerdictOf("p50<=1000s", 0, 100), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("mean<=1000s", 0, 100), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("rate>=1", 900, 100), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("p99<=1000s", 970, 30), CheckVerdict::kFail);
  // It is uncertain here whether one in a hundred fails.
  EXPECT_EQ(VerdictOf("p99<=1000s", 989, 11), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("p99<=1000s", 10'000, 11), CheckVerdict::kPass);
}

TEST(CheckObjectivesTest, AnObjectiveOnFailuresAllowsThem) {
  const auto checks =
      CheckObjectives(ResultOf(1000, 10, {"mean<=1s", "failures<=5%"}));
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].verdict, CheckVerdict::kPass);
  EXPECT_EQ(checks[1].verdict, CheckVerdict::kPass);
}

TEST(CheckObjectivesTest, SaysWhatItJudgedBy) {
  const auto checks = CheckObjectives(ResultOf(1000, 0, {"p50<=600ms"}),
                                      {"p50<=600ms", "rate>=1"});
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].test, "t");
  EXPECT_EQ(checks[0].condition, "p50<=600ms");
  EXPECT_THAT(checks[0].evidence, HasSubstr("p50 50"));
  EXPECT_THAT(checks[0].evidence,
              HasSubstr("95% interval of independent values: 46"));
  EXPECT_EQ(checks[1].condition, "rate>=1");
}

TEST(CheckObjectivesTest, FailsWhereThereIsNothingToJudge) {
  TestResult result = ResultOf(10, 0, {"other p50<=1s", "p50"});
  auto checks = CheckObjectives(result);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].verdict, CheckVerdict::kFail);
  EXPECT_THAT(checks[0].evidence, HasSubstr("cannot be judged"));
  EXPECT_EQ(checks[1].verdict, CheckVerdict::kFail);
  result.mutable_run_info()->set_failure("node1 was lost");
  EXPECT_THAT(CheckObjectives(result)[0].evidence, HasSubstr("node1 was lost"));
}

// Files for CI systems say so of each test, also of one without objectives.
TEST(CheckRunTest, SaysWhetherTheRunIsValid) {
  TestResult result;
  result.mutable_traffic_config()->set_name("t");
  EXPECT_EQ(CheckRun(result, false).test, "t");
  EXPECT_EQ(CheckRun(result, false).verdict, CheckVerdict::kPass);
  EXPECT_EQ(CheckRun(result, false).evidence, "ok");
  Finding& finding = *result.mutable_run_info()->add_findings();
  finding.set_severity(Finding::WARN);
  finding.set_message("the host was busy");
  EXPECT_EQ(CheckRun(result, false).verdict, CheckVerdict::kPass);
  EXPECT_EQ(CheckRun(result, false).evidence, "warn: the host was busy");
  finding.set_severity(Finding::INVALID);
  EXPECT_EQ(CheckRun(result, false).verdict, CheckVerdict::kFail);
  EXPECT_EQ(CheckRun(result, /*allow_invalid=*/true).verdict,
            CheckVerdict::kPass);
  result.mutable_run_info()->set_failure("node1 was lost");
  EXPECT_EQ(CheckRun(result, /*allow_invalid=*/true).verdict,
            CheckVerdict::kFail);
  EXPECT_EQ(CheckRun(result, false).evidence, "failed: node1 was lost");
}

}  // namespace
}  // namespace distbench::report
