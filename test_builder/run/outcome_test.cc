// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/run/test_runner.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/run/testing/fake_backend.h"

namespace distbench::test_builder {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(OutcomeOfTest, TakesFiguresFromTheStatistics) {
  const TestOutcome outcome = OutcomeOf(FakeResult("t", "query", 500, 7000));
  EXPECT_EQ(outcome.test, "t");
  EXPECT_EQ(outcome.verdict, "ok");
  EXPECT_FALSE(outcome.kept);
  ASSERT_EQ(outcome.rpcs.size(), 1);
  EXPECT_EQ(outcome.rpcs[0].rpc, "query");
  EXPECT_DOUBLE_EQ(outcome.rpcs[0].per_second, 500);
  EXPECT_EQ(outcome.rpcs[0].p50_ns, 7000);
  EXPECT_EQ(outcome.rpcs[0].p99_ns, 7000);
}

// As in reports of the same result.
TEST(OutcomeOfTest, WithholdsPercentilesOfTooFewRpcs) {
  const TestOutcome outcome = OutcomeOf(FakeResult("t", "query", 50, 7000));
  ASSERT_EQ(outcome.rpcs.size(), 1);
  EXPECT_EQ(outcome.rpcs[0].p50_ns, 7000);
  EXPECT_EQ(outcome.rpcs[0].p99_ns, std::nullopt);
  EXPECT_THAT(OutcomeTable({outcome}), HasSubstr("50/s  7.00 us    -  ok"));
}

// Other RPCs may be sent for longer.
TEST(OutcomeOfTest, ARateIsOverTheTimeOfItsRpc) {
  TestResult result = FakeResult("t", "query", 500, 7000);
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("other");
  auto& client =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  auto& rpcs = *(*client.mutable_peer_logs())["server/0"].mutable_rpc_logs();
  RpcStatistics& other = *rpcs[1].mutable_statistics();
  other = rpcs[0].statistics();
  other.set_last_end_timestamp_ns(other.first_start_timestamp_ns() +
                                  2'000'000'000);
  const TestOutcome outcome = OutcomeOf(result);
  ASSERT_EQ(outcome.rpcs.size(), 2);
  EXPECT_DOUBLE_EQ(outcome.rpcs[0].per_second, 500);
  EXPECT_DOUBLE_EQ(outcome.rpcs[1].per_second, 250);
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
  EXPECT_EQ(OutcomeOf(result).verdict, "warn");
  finding.set_severity(Finding::NOTE);
  EXPECT_EQ(OutcomeOf(result).verdict, "ok");
  finding.set_severity(Finding::INVALID);
  EXPECT_EQ(OutcomeOf(result).verdict, "invalid");
  result.mutable_run_info()->set_failure("node lost");
  EXPECT_EQ(OutcomeOf(result).verdict, kFailed);
}

TEST(OutcomeTableTest, SaysWhatWasKept) {
  const std::vector<TestOutcome> outcomes = {
      {.test = "a",
       .verdict = "warn",
       .kept = true,
       .rpcs = {{"query", 1234.5, 950, 1'500'000}}},
      {.test = "b", .verdict = kNotRun},
  };
  EXPECT_THAT(OutcomeTable(outcomes),
              EndsWith("test  RPC        rate     p50      p99  verdict\n"
                       "a     query  1.23 k/s  950 ns  1.50 ms  warn (kept)\n"
                       "b     -             -       -        -  not run\n"));
}

}  // namespace
}  // namespace distbench::test_builder
