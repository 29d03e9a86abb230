#include "test_builder/run/outcome.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/run/testing/fake_backend.h"

namespace distbench::test_builder {
namespace {

TEST(OutcomeOfTest, TakesFiguresFromTheStatistics) {
  const TestOutcome outcome = OutcomeOf(FakeResult("t", "query", 500, 7000));
  EXPECT_EQ(outcome.test, "t");
  EXPECT_EQ(outcome.verdict, TestOutcome::Verdict::kOk);
  EXPECT_FALSE(outcome.kept);
  ASSERT_EQ(outcome.rpcs.size(), 1);
  EXPECT_EQ(outcome.rpcs[0].rpc, "query");
  EXPECT_DOUBLE_EQ(outcome.rpcs[0].per_second, 500);
  EXPECT_EQ(outcome.rpcs[0].p50_ns, 7000);
  EXPECT_EQ(outcome.rpcs[0].p99_ns, 7000);
}

TEST(OutcomeOfTest, LeavesOutRpcsWithoutSuccess) {
  TestResult result = FakeResult("t", "query", 500, 7000);
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("unused");
  EXPECT_EQ(OutcomeOf(result).rpcs.size(), 1);
  EXPECT_EQ(OutcomeOf(FakeResult("t", "query", 0, 0)).rpcs.size(), 0);
}

TEST(OutcomeOfTest, JudgesByFailureAndFindings) {
  TestResult result = FakeResult("t", "query", 5, 7000);
  Finding& finding = *result.mutable_run_info()->add_findings();
  finding.set_severity(Finding::WARN);
  EXPECT_EQ(OutcomeOf(result).verdict, TestOutcome::Verdict::kOk);
  finding.set_severity(Finding::INVALID);
  EXPECT_EQ(OutcomeOf(result).verdict, TestOutcome::Verdict::kInvalid);
  result.mutable_run_info()->set_failure("node lost");
  EXPECT_EQ(OutcomeOf(result).verdict, TestOutcome::Verdict::kFailed);
}

TEST(OutcomeTableTest, HasARowPerTestAndRpc) {
  const std::vector<TestOutcome> outcomes = {
      {.test = "long_name",
       .verdict = TestOutcome::Verdict::kOk,
       .kept = true,
       .rpcs = {{"root_query", 1234.5, 950, 1'500'000},
                {"leaf", 9.99, 12'345, 2'000'000'000}}},
      {.test = "b", .verdict = TestOutcome::Verdict::kNotRun},
  };
  EXPECT_EQ(OutcomeTable(outcomes),
            "test       RPC         kQPS      p50      p99  verdict\n"
            "long_name  root_query  1.23   0.9 us  1.50 ms  ok (kept)\n"
            "           leaf        0.01  12.3 us   2.00 s\n"
            "b          -              -        -        -  not run\n");
}

}  // namespace
}  // namespace distbench::test_builder
