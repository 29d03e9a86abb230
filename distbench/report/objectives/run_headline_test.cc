// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/objectives/run_headline.h"

#include <string>
#include <vector>

#include "distbench/results/rpc_totals.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

TestResult RunOf(int succeeded_count,
                 const std::vector<Finding::Severity>& findings = {}) {
  TestResult result;
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("query");
  results::RpcTotals totals;
  totals.service_time_ns.RecordN(1'000'000, succeeded_count);
  totals.counts.succeeded_count = succeeded_count;
  totals.counts.last_end_timestamp_ns = 1'000'000'000;
  auto& client =
      (*result.mutable_service_logs()->mutable_instance_logs())["c/0"];
  totals.Encode(*(*(*client.mutable_peer_logs())["s/0"].mutable_rpc_logs())[0]
                     .mutable_statistics());
  for (const Finding::Severity severity : findings) {
    Finding& finding = *result.mutable_run_info()->add_findings();
    finding.set_severity(severity);
    finding.set_code("some");
  }
  return result;
}

std::vector<Check> ChecksOf(const std::vector<CheckVerdict>& verdicts) {
  std::vector<Check> checks;
  for (const CheckVerdict verdict : verdicts) {
    checks.push_back({.verdict = verdict});
  }
  return checks;
}

// "missed (1 missed of 1 objective)"
std::string TextOf(const TestResult& result,
                   const std::vector<CheckVerdict>& verdicts = {}) {
  const RunHeadline headline =
      HeadlineOf(result, AddUp(result), ChecksOf(verdicts));
  const std::string doubts = DoubtsText(headline);
  return doubts.empty() ? headline.verdict
                        : headline.verdict + " (" + doubts + ")";
}

TEST(RunHeadlineTest, ObjectivesComeBeforeDoubts) {
  using enum CheckVerdict;
  const TestResult warned = RunOf(100, {Finding::WARN, Finding::WARN});
  EXPECT_EQ(TextOf(warned, {kFail, kUndecided}),
            "missed (1 missed, 1 undecided of 2 objectives; 2 warnings)");
  EXPECT_EQ(TextOf(warned, {kUndecided, kPass}),
            "undecided (1 met, 1 undecided of 2 objectives; 2 warnings)");
  EXPECT_EQ(TextOf(warned, {kPass}), "warn (1 met of 1 objective; 2 warnings)");
  EXPECT_EQ(TextOf(RunOf(100, {Finding::NOTE}), {kPass, kPass}),
            "ok (2 met of 2 objectives)");
}

TEST(RunHeadlineTest, WhatWasNotMeasuredCannotBeMissed) {
  using enum CheckVerdict;
  EXPECT_EQ(TextOf(RunOf(100, {Finding::INVALID, Finding::WARN}), {kFail}),
            "invalid (1 missed of 1 objective; 1 warning)");
  TestResult lost = RunOf(100);
  lost.mutable_run_info()->set_failure("node1 was lost");
  EXPECT_EQ(TextOf(lost, {kFail}), "failed (1 missed of 1 objective)");
}

TEST(RunHeadlineTest, WithoutObjectivesTheFindingsSayItAll) {
  EXPECT_EQ(TextOf(RunOf(100)), "ok");
  EXPECT_EQ(TextOf(RunOf(100, {Finding::WARN})), "warn");
  EXPECT_EQ(TextOf(RunOf(100, {Finding::INVALID})), "invalid");
  EXPECT_EQ(TextOf(RunOf(0)), "nothing measured");
}

TEST(RunHeadlineTest, AnInstanceThatStoppedEarlyIsAWarning) {
  TestResult result = RunOf(100);
  (*result.mutable_service_logs()->mutable_instance_logs())["c/0"]
      .set_engine_error_message("it crashed");
  EXPECT_EQ(TextOf(result), "warn");
}

}  // namespace
}  // namespace distbench::report
