// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/run_outcome.h"

#include <optional>

#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/results/run_failure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::Optional;
using ::testing::StartsWith;

TestResult ResultOfSeconds(int64_t seconds) {
  TestResult result;
  (*result.mutable_traffic_config()->mutable_attributes())["test_timeout"] =
      "60";
  result.mutable_run_info()->set_start_timestamp_ns(5);
  result.mutable_run_info()->set_end_timestamp_ns(5 + seconds * 1'000'000'000);
  return result;
}

TEST(OutcomeOfTest, TellsWhyARunEnded) {
  TestResult result = ResultOfSeconds(60);
  EXPECT_EQ(OutcomeOf(result), RunOutcome::kMeasured);
  EXPECT_EQ(WhyNotMeasured(result), "");

  Finding& finding = *result.mutable_run_info()->add_findings();
  finding.set_severity(Finding::WARN);
  finding.set_message("most RPCs failed");
  EXPECT_EQ(OutcomeOf(result), RunOutcome::kMeasured);
  finding.set_severity(Finding::INVALID);
  EXPECT_EQ(OutcomeOf(result), RunOutcome::kInvalid);
  EXPECT_EQ(WhyNotMeasured(result), "is invalid: most RPCs failed");

  result.mutable_run_info()->set_failure("it did not end");
  EXPECT_EQ(OutcomeOf(result), RunOutcome::kTimedOut);
  EXPECT_EQ(WhyNotMeasured(result), "did not run to its end: it did not end");
  result.mutable_run_info()->set_end_timestamp_ns(60'000'000'000);
  EXPECT_EQ(OutcomeOf(result), RunOutcome::kLost);
  result.mutable_run_info()->set_overloaded(true);
  EXPECT_EQ(OutcomeOf(result), RunOutcome::kOverloaded);
}

// Whatever its clocks say.
TEST(OutcomeOfTest, ARunThatNeverBeganDidNotTimeOut) {
  TestResult result = ResultOfSeconds(60);
  result.mutable_run_info()->set_failure("no node");
  result.mutable_run_info()->clear_start_timestamp_ns();
  EXPECT_EQ(OutcomeOf(result), RunOutcome::kLost);
}

// The sequencer says why as well; other writers of results need not.
TEST(OutcomeOfTest, AnOverloadIsAFailureWithoutWords) {
  TestResult result = ResultOfSeconds(60);
  EXPECT_EQ(results::FailureOf(result), std::nullopt);
  EXPECT_EQ(RunVerdict(result), "ok");
  result.mutable_run_info()->set_overloaded(true);
  EXPECT_EQ(OutcomeOf(result), RunOutcome::kOverloaded);
  EXPECT_EQ(RunVerdict(result), "failed");
  EXPECT_EQ(WhyNotMeasured(result),
            "did not run to its end: it reached one of its overload_limits");
  result.mutable_run_info()->set_failure("the queue was full");
  EXPECT_THAT(results::FailureOf(result), Optional(Eq("the queue was full")));
}

TEST(OutcomeOfTest, OnlyOverloadsAndTimeoutsWereTooMuch) {
  EXPECT_TRUE(WasTooMuch(RunOutcome::kOverloaded));
  EXPECT_TRUE(WasTooMuch(RunOutcome::kTimedOut));
  EXPECT_FALSE(WasTooMuch(RunOutcome::kMeasured));
  EXPECT_FALSE(WasTooMuch(RunOutcome::kInvalid));
  EXPECT_FALSE(WasTooMuch(RunOutcome::kLost));
}

TEST(OutcomeOfTest, DamagedLogsMakeARunInvalid) {
  TestResult result = ResultOfSeconds(60);
  StatisticsOf(result, "client/0", "server/0", 0).set_failed_count(-1);
  EXPECT_EQ(OutcomeOf(result), RunOutcome::kInvalid);
  EXPECT_THAT(WhyNotMeasured(result),
              StartsWith("is invalid: 1 log is left out because its statistics "
                         "are damaged"));
  EXPECT_TRUE(InvalidCausesOf(result, AddUp(result)).other);
}

Finding& AddInvalid(const char* code, TestResult& result) {
  Finding& finding = *result.mutable_run_info()->add_findings();
  finding.set_severity(Finding::INVALID);
  finding.set_code(code);
  return finding;
}

InvalidCauses CausesOf(const TestResult& result) {
  return InvalidCausesOf(result, AddUp(result));
}

TEST(InvalidCausesOfTest, SayWhatTheLoadExplains) {
  TestResult result;
  AddInvalid("nothing_measured", result);
  EXPECT_TRUE(CausesOf(result).other) << "nothing says why";
  AddInvalid("binding_not_held", result).set_severity(Finding::WARN);
  AddInvalid("failed_rpcs", result);
  EXPECT_TRUE(CausesOf(result).requests_failed);
  EXPECT_FALSE(CausesOf(result).generator);
  EXPECT_FALSE(CausesOf(result).other);
  AddInvalid("late_sends", result);
  EXPECT_TRUE(CausesOf(result).generator);
  EXPECT_FALSE(CausesOf(result).other);
  AddInvalid("binding_not_held", result);
  EXPECT_TRUE(CausesOf(result).other);
}

TEST(DisturbancesOfTest, AreFindingsAboutOthers) {
  TestResult result;
  const auto add = [&](Finding::Severity severity, const char* code) {
    Finding& finding = *result.mutable_run_info()->add_findings();
    finding.set_severity(severity);
    finding.set_code(code);
    finding.set_message(code);
  };
  add(Finding::NOTE, "stolen");
  add(Finding::WARN, "cpu_saturated");
  add(Finding::WARN, "waited_for_cpu");
  add(Finding::WARN, "stolen");
  EXPECT_THAT(DisturbancesOf(result), ElementsAre("waited_for_cpu", "stolen"));
}

}  // namespace
}  // namespace distbench::report
