// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment/phases.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/rules/field_rules.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<config::Problem> ProblemsOf(const std::string& text) {
  const auto phases = base::FromText<ExperimentPhases>(text);
  config::Problems problems;
  config::CheckFields(phases, config::Path("phases"), nullptr, problems);
  CheckPhases(phases, config::Path("phases"), problems);
  return std::move(problems).Take();
}

TEST(ReadPhasesTest, AbsentOnesHaveTheirDefaults) {
  const PhaseDurations phases =
      ReadPhases(base::FromText<ExperimentPhases>("baseline: '1m'"));
  EXPECT_EQ(phases.stabilise, absl::Seconds(60));
  EXPECT_EQ(phases.flat_over, absl::Seconds(10));
  EXPECT_EQ(phases.flat_within_percent, 0.25);
  EXPECT_EQ(phases.baseline, absl::Minutes(1));
  EXPECT_EQ(phases.interfere, absl::Seconds(60));
  EXPECT_EQ(phases.recover, absl::Seconds(15));
  EXPECT_EQ(phases.Total(), absl::Seconds(195));
}

TEST(ReadPhasesTest, WhatIsFormattedReadsTheSame) {
  PhaseDurations phases;
  phases.stabilise = absl::Seconds(90);
  phases.flat_over = absl::Milliseconds(5500);
  phases.flat_within_percent = 0.5;
  phases.recover = absl::ZeroDuration();
  const PhaseDurations again = ReadPhases(FormatPhases(phases));
  EXPECT_EQ(again.stabilise, phases.stabilise);
  EXPECT_EQ(again.flat_over, phases.flat_over);
  EXPECT_EQ(again.flat_within_percent, phases.flat_within_percent);
  EXPECT_EQ(again.Total(), phases.Total());
}

TEST(ReadPhasesTest, WrongOnesHaveTheirDefaults) {
  const PhaseDurations phases = ReadPhases(
      base::FromText<ExperimentPhases>("baseline: '2s' interfere: '4s'"));
  EXPECT_EQ(phases.baseline, absl::Seconds(15));
  EXPECT_EQ(phases.interfere, absl::Seconds(4));
}

// The defaults are written down twice.
TEST(ReadPhasesTest, DefaultsAgreeWithThoseOfFields) {
  const PhaseDurations phases = ReadPhases({});
  const PhaseDurations defaults;
  EXPECT_EQ(phases.stabilise, defaults.stabilise);
  EXPECT_EQ(phases.flat_over, defaults.flat_over);
  EXPECT_EQ(phases.flat_within_percent, defaults.flat_within_percent);
  EXPECT_EQ(phases.baseline, defaults.baseline);
  EXPECT_EQ(phases.interfere, defaults.interfere);
  EXPECT_EQ(phases.recover, defaults.recover);
}

TEST(ReadPhasesTest, SaysWhatIsWrongWithEach) {
  const std::vector<config::Problem> problems = ProblemsOf(
      "stabilise: '15' flat_over: '1s' baseline: '2s' "
      "interfere: '100h' recover: '-1s'");
  ASSERT_THAT(problems, SizeIs(5));
  EXPECT_EQ(problems[0].path, "phases.stabilise");
  EXPECT_THAT(problems[0].message, HasSubstr("is not a duration"));
  EXPECT_EQ(problems[1].path, "phases.flat_over");
  EXPECT_THAT(problems[1].message, HasSubstr("must be from 5s to 72h"));
  EXPECT_EQ(problems[2].path, "phases.baseline");
  EXPECT_THAT(problems[2].message, HasSubstr("must be from 3s to 72h"));
  EXPECT_EQ(problems[3].path, "phases.interfere");
  EXPECT_EQ(problems[4].path, "phases.recover");
}

TEST(ReadPhasesTest, TheSubjectMustHaveTimeToHoldStill) {
  EXPECT_THAT(ProblemsOf("stabilise: '10s' flat_over: '10s'"), IsEmpty());
  const auto problems = ProblemsOf("stabilise: '9s' flat_over: '10s'");
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0].message,
              HasSubstr("10s is longer than stabilise, 9s"));
}

TEST(ReadPhasesTest, FlatnessHasARange) {
  for (const char* value : {"0", "-1", "nan", "1001"}) {
    const auto problems =
        ProblemsOf(absl::StrCat("flat_within_percent: ", value));
    ASSERT_THAT(problems, SizeIs(1)) << value;
    EXPECT_EQ(problems[0].path, "phases.flat_within_percent");
  }
}

TEST(ParseExperimentLoadTest, TakesRatesAndShares) {
  const auto rate = ParseExperimentLoad("1.5k/s");
  ASSERT_TRUE(rate.ok());
  EXPECT_FALSE(rate->is_share);
  EXPECT_DOUBLE_EQ(rate->value, 1500);
  const auto share = ParseExperimentLoad("80%");
  ASSERT_TRUE(share.ok());
  EXPECT_TRUE(share->is_share);
  EXPECT_DOUBLE_EQ(share->value, 0.8);
}

TEST(ParseExperimentLoadTest, RefusesOtherText) {
  for (const char* text : {"", "%", "80", "0%", "-5%", "nan%", "inf%", "1001%",
                           "0/s", "80 %x", "1e400%"}) {
    const auto load = ParseExperimentLoad(text);
    EXPECT_FALSE(load.ok()) << text;
    EXPECT_THAT(std::string(load.status().message()),
                HasSubstr(absl::StrCat("\"", text, "\"")));
  }
}

}  // namespace
}  // namespace distbench::protection
