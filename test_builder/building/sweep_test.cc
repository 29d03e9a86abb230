#include "test_builder/building/sweep.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Values(absl::string_view start, absl::string_view step,
                                absl::string_view end) {
  const auto sweep = MakeSweep("qps", start, step, end);
  EXPECT_TRUE(sweep.ok()) << sweep.status();
  return sweep.ok() ? sweep->values : std::vector<std::string>();
}

std::string ErrorOf(absl::string_view name, absl::string_view start,
                    absl::string_view step, absl::string_view end) {
  return std::string(MakeSweep(name, start, step, end).status().message());
}

TEST(MakeSweepTest, AddsStepsUpToTheEnd) {
  EXPECT_THAT(Values("4000", "1000", "8000"),
              ElementsAre("4000", "5000", "6000", "7000", "8000"));
  EXPECT_THAT(Values("1", "3", "9"), ElementsAre("1", "4", "7"));
  EXPECT_THAT(Values("5", "1", "5"), ElementsAre("5"));
}

TEST(MakeSweepTest, GoesDownByNegativeSteps) {
  EXPECT_THAT(Values("3", "-2", "-1"), ElementsAre("3", "1", "-1"));
}

TEST(MakeSweepTest, HasTheDecimalsOfStartAndStep) {
  EXPECT_THAT(Values("0.1", "0.1", "0.5"),
              ElementsAre("0.1", "0.2", "0.3", "0.4", "0.5"));
  EXPECT_THAT(Values("1", "0.25", "1.5"), ElementsAre("1.00", "1.25", "1.50"));
}

TEST(MakeSweepTest, Multiplies) {
  EXPECT_THAT(Values("100", "x2", "1600"),
              ElementsAre("100", "200", "400", "800", "1600"));
  EXPECT_THAT(Values("100", "x2", "1599"),
              ElementsAre("100", "200", "400", "800"));
  EXPECT_THAT(Values("64", "x0.5", "16"), ElementsAre("64", "32", "16"));
  EXPECT_THAT(Values("0.5", "x2", "2"), ElementsAre("0.5", "1.0", "2.0"));
}

TEST(MakeSweepTest, KeepsMultipliedValuesThatRoundToTheSameOnce) {
  EXPECT_THAT(Values("1", "x1.5", "10"), ElementsAre("1", "2", "3", "5", "8"));
}

TEST(MakeSweepTest, SplitsNames) {
  const auto sweep = MakeSweep("a,b", "1", "1", "2");
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_THAT(sweep->parameters, ElementsAre("a", "b"));
}

TEST(MakeSweepTest, SaysWhichPartIsWrong) {
  EXPECT_THAT(ErrorOf("a,", "1", "1", "2"), HasSubstr("NAME is \"a,\""));
  EXPECT_THAT(ErrorOf("a", "one", "1", "2"), HasSubstr("START is \"one\""));
  EXPECT_THAT(ErrorOf("a", "1", "1e3", "2"), HasSubstr("STEP is \"1e3\""));
  EXPECT_THAT(ErrorOf("a", "1", "1", ""), HasSubstr("END is \"\""));
  EXPECT_THAT(ErrorOf("a", "1", "xx", "2"), HasSubstr("the factor is \"x\""));
}

TEST(MakeSweepTest, RefusesSweepsThatLeadNowhere) {
  EXPECT_THAT(ErrorOf("a", "1", "0", "2"), HasSubstr("STEP is 0"));
  EXPECT_THAT(ErrorOf("a", "2", "1", "1"), HasSubstr("no value lies between"));
  EXPECT_THAT(ErrorOf("a", "1", "-1", "2"), HasSubstr("no value"));
  EXPECT_THAT(ErrorOf("a", "2", "x2", "1"), HasSubstr("no value"));
  EXPECT_THAT(ErrorOf("a", "1", "x1", "2"), HasSubstr("not 1"));
  EXPECT_THAT(ErrorOf("a", "0", "x2", "2"), HasSubstr("START above 0"));
  EXPECT_THAT(ErrorOf("a", "1", "x-2", "2"), HasSubstr("factor"));
}

TEST(MakeSweepTest, RefusesSweepsWithoutAnEnd) {
  EXPECT_THAT(ErrorOf("a", "0", "1", "1000000000"),
              HasSubstr("more than 10000 values"));
  EXPECT_THAT(ErrorOf("a", "1", "x1.0000001", "1000000000"),
              HasSubstr("more than 10000 steps"));
  EXPECT_THAT(ErrorOf("a", "1", "1", "99999999999999999999"), HasSubstr("END"));
}

}  // namespace
}  // namespace distbench::test_builder
