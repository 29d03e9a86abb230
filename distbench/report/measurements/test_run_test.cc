// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/test_run.h"

#include <string>
#include <utility>
#include <vector>

#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

TestResult Simulated() {
  TestResult result;
  result.mutable_simulation();
  return result;
}

TEST(OriginTest, OnlySimulatedNamesAreMarked) {
  EXPECT_EQ(MarkedName("t", TestResult()), "t");
  EXPECT_EQ(MarkedName("t", Simulated()), "t (simulated)");
}

TEST(OriginTest, OriginsOfRuns) {
  const auto results = Sourced({TestResult(), Simulated()});
  const std::vector<TestRun> runs = ListRuns(results);
  const auto first = absl::MakeConstSpan(runs).first(1);
  const auto second = absl::MakeConstSpan(runs).subspan(1);
  EXPECT_EQ(OriginOf({}), kRealOrigin);
  EXPECT_EQ(OriginOf(first), kRealOrigin);
  EXPECT_EQ(OriginOf(second), "simulated");
  EXPECT_EQ(OriginOf(runs), "real and simulated");
  EXPECT_FALSE(MixesOrigins({}));
  EXPECT_FALSE(MixesOrigins(second));
  EXPECT_TRUE(MixesOrigins(runs));
}

std::string WhyCopiesOf(std::vector<TestResult> results) {
  const auto sourced = Sourced(std::move(results));
  return WhyCopies(ListRuns(sourced));
}

TEST(CopiesTest, SimulatedRunsThatShareASeedAreCopies) {
  TestResult one = ResultFromText("run_info { random_seed: 1 } simulation {}");
  TestResult two = ResultFromText("run_info { random_seed: 2 } simulation {}");
  EXPECT_EQ(WhyCopiesOf({one, two}), "");
  EXPECT_THAT(WhyCopiesOf({one, two, one}), HasSubstr("the same seed"));
  EXPECT_EQ(WhyCopiesOf({Simulated(), Simulated()}), "");
}

TEST(CopiesTest, ARealRunThatIsThereTwiceIsACopy) {
  const TestResult run = ResultFromText(
      "run_info { random_seed: 1 start_timestamp_ns: 5 end_timestamp_ns: 9 } "
      "service_logs { instance_logs { key: 'client/0' } }");
  TestResult other_load = run;
  (*other_load.mutable_service_logs()->mutable_instance_logs())["client/1"];
  TestResult later = run;
  later.mutable_run_info()->set_end_timestamp_ns(10);
  TestResult of_no_time = ResultFromText("run_info { random_seed: 1 }");
  EXPECT_EQ(WhyCopiesOf({run, other_load, later}), "");
  EXPECT_EQ(WhyCopiesOf({of_no_time, of_no_time}), "");
  EXPECT_THAT(WhyCopiesOf({run, later, run}), HasSubstr("a run twice"));
}

Finding OnHost(const char* code, const char* message) {
  Finding finding;
  finding.set_severity(Finding::WARN);
  finding.set_code(code);
  finding.set_message(message);
  return finding;
}

TEST(KindsOfFindingsTest, WhatHostsHaveAlikeIsOneSentence) {
  const std::vector<Finding> findings = {
      OnHost("waited_for_cpu", "threads of the test on host b waited"),
      OnHost("failed_rpcs", "read failed"),
      OnHost("failed_rpcs", "write failed"),
      OnHost("waited_for_cpu", "threads of the test on host a waited"),
      OnHost("stolen", "the hypervisor took 7 % of host a")};
  const std::vector<FindingKind> kinds = KindsOf(findings);
  ASSERT_EQ(kinds.size(), 3);
  EXPECT_EQ(
      kinds[0].messages,
      std::vector<std::string>(
          {"on 2 hosts, such as: threads of the test on host b waited"}));
  EXPECT_EQ(kinds[1].messages.size(), 2) << "of RPCs, which are all told";
  EXPECT_EQ(kinds[2].messages,
            std::vector<std::string>({"the hypervisor took 7 % of host a"}));
}

TEST(KindsOfFindingsTest, HostsThatAreOnlyCountedCount) {
  const FindingKind kind =
      KindsOf({OnHost("stolen", "host a"), OnHost("stolen", "host b"),
               MoreFindings(Finding::WARN, "stolen", 40)})[0];
  EXPECT_EQ(kind.messages,
            std::vector<std::string>({"on 42 hosts, such as: host a"}));
}

}  // namespace
}  // namespace distbench::report
