#include <string>

#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The hosts of a simulation have no other programs, and its clocks are right.
TEST_F(JudgeTest, WhatOnlyRealHostsHaveIsNotSaidOfSimulatedOnes) {
  UseCpus(3'900'000'000, 1'000'000'000);
  Counters().set_steal_cpu_ns(2'000'000'000);
  ClockFor("node0", 50'000'000);
  EXPECT_NE(Find("other_load"), "");
  EXPECT_NE(Find("clock_error"), "");
  result_.mutable_simulation();
  ExpectNothing();
}

TEST_F(JudgeTest, LateSendsOfASimulationAreNotMendedBySpinning) {
  *Statistics().mutable_lateness_ns() = Repeated(20'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(21'000'000, 3000);
  EXPECT_THAT(Find("late_sends"), HasSubstr("spin"));
  result_.mutable_simulation();
  EXPECT_THAT(Find("late_sends"),
              AllOf(HasSubstr("simulated"), Not(HasSubstr("spin"))));
}

}  // namespace
}  // namespace distbench::report
