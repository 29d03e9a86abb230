// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/test_outcomes.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/metrics/testing/metric_values.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(TestOutcomesTest, CountsVerdictsFromZero) {
  TestOutcomes outcomes;
  constexpr char kName[] = "distbench_tests_ended_total";
  EXPECT_THAT(metrics::MetricValues(outcomes.Metrics(), kName),
              ElementsAre(Pair("failed", 0), Pair("invalid", 0), Pair("ok", 0),
                          Pair("warn", 0)));
  outcomes.Add("a", TestResult());
  outcomes.Add("a", base::FromText<TestResult>("run_info { failure: 'lost' }"));
  EXPECT_THAT(metrics::MetricValues(outcomes.Metrics(), kName),
              ElementsAre(Pair("failed", 1), Pair("invalid", 0), Pair("ok", 1),
                          Pair("warn", 0)));
}

TEST(TestOutcomesTest, CountsFindingsBySeverityAndCode) {
  TestOutcomes outcomes;
  const auto result = base::FromText<TestResult>(R"(
    run_info {
      findings { severity: WARN code: "late" message: "1" }
      findings { severity: WARN code: "late" message: "2" }
      findings { severity: NOTE code: "short" message: "3" }
    })");
  outcomes.Add("a", result);
  outcomes.Add("b", result);
  EXPECT_THAT(
      metrics::MetricValues(outcomes.Metrics(), "distbench_findings_total"),
      ElementsAre(Pair("note short", 2), Pair("warn late", 4)));
}

TEST(TestOutcomesTest, CodesBeyondTheLimitAreCountedTogether) {
  TestResult result;
  for (size_t i = 0; i < TestOutcomes::kMostFindingCodes + 10; ++i) {
    result.mutable_run_info()->add_findings()->set_code(
        absl::StrCat("code_", i));
  }
  TestOutcomes outcomes;
  outcomes.Add("a", result);
  auto findings =
      metrics::MetricValues(outcomes.Metrics(), "distbench_findings_total");
  EXPECT_THAT(findings, SizeIs(TestOutcomes::kMostFindingCodes + 1));
  EXPECT_EQ(findings["note (others)"], 10);
}

TEST(TestOutcomesTest, ObjectivesHaveTheVerdictOfTheLastRun) {
  TestOutcomes outcomes;
  constexpr char kName[] = "distbench_objective";
  EXPECT_THAT(metrics::MetricValues(outcomes.Metrics(), kName), IsEmpty());
  TestResult result;
  result.mutable_traffic_config()->add_objectives("failures<=1%");
  result.mutable_run_info()->set_failure("lost");
  outcomes.Add("a", result);
  outcomes.Add("a", result);
  EXPECT_THAT(metrics::MetricValues(outcomes.Metrics(), kName),
              ElementsAre(Pair("a failures<=1% fail", 1),
                          Pair("a failures<=1% pass", 0),
                          Pair("a failures<=1% undecided", 0)));
  for (size_t i = 0; i < TestOutcomes::kMostObjectives; ++i) {
    outcomes.Add(absl::StrCat("b", i), result);
  }
  auto objectives = metrics::MetricValues(outcomes.Metrics(), kName);
  EXPECT_THAT(objectives, SizeIs(3 * TestOutcomes::kMostObjectives));
  EXPECT_EQ(objectives.count("a failures<=1% fail"), 0);
}

}  // namespace
}  // namespace distbench::sequencer
