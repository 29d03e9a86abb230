// Tests of the judge's own codes are in JudgeTest::ExpectOne().

#include "distbench/report/findings/advice.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(AdviceTest, FindingsOfOthersThanTheJudgeHaveIt) {
  for (const char* code : {"clock_offset", "damaged_logs", "late_start",
                           "node_lost", "one_process", "resources_dropped"}) {
    EXPECT_THAT(AdviceFor(code), Not(IsEmpty())) << code;
  }
}

TEST(AdviceTest, IsThatOfTheCode) {
  EXPECT_THAT(std::string(AdviceFor("not_steady")), HasSubstr("warm-up"));
  EXPECT_THAT(std::string(AdviceFor("throttled")), HasSubstr("cpu.max"));
  // Its message says how to make sends punctual.
  EXPECT_THAT(std::string(AdviceFor("late_sends")),
              AllOf(HasSubstr("more clients"), Not(HasSubstr("spin"))));
}

TEST(AdviceTest, UnknownCodesHaveNone) {
  EXPECT_THAT(AdviceFor(""), IsEmpty());
  EXPECT_THAT(AdviceFor("example"), IsEmpty());
}

}  // namespace
}  // namespace distbench::report
