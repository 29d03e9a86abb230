// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::IsEmpty;

class BadQuantity : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadQuantity, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

constexpr char kOld[] = "iterations { max_duration_us: 9 }";
constexpr char kIterations[] = "actions[\"run\"].iterations";
constexpr char kRate[] = "actions[\"run\"].iterations.rate";

INSTANTIATE_TEST_SUITE_P(
    Rules, BadQuantity,
    ::testing::Values(
        ValidationCase{"RateWithoutUnit", kOld, "iterations { rate: '200' }",
                       kRate,
                       "\"200\" is not a rate; write it with its unit, such "
                       "as 200/s, 1.5k/s or 6/min"},
        ValidationCase{"RateIsEmpty", kOld, "iterations { rate: '' }", kRate,
                       "\"\" is not a rate"},
        ValidationCase{"RateIsZero", kOld, "iterations { rate: '0/s' }", kRate,
                       "must be above 0"},
        ValidationCase{"RateIsTooHigh", kOld, "iterations { rate: '1001M/s' }",
                       kRate,
                       "\"1001M/s\" is out of range; must be from 0.0036/h to "
                       "1000M/s"},
        ValidationCase{"RateIsTooLow", kOld, "iterations { rate: '0.0035/h' }",
                       kRate, "is out of range"},
        ValidationCase{"RateIsAlmostNone", kOld,
                       "iterations { rate: '0.00000000000000000000001/h' }",
                       kRate, "is out of range"},
        ValidationCase{"RateAndInterval", kOld,
                       "iterations { rate: '1/s' open_loop_interval_ns: 5 }",
                       kIterations,
                       "has both rate and open_loop_interval_ns; give one"},
        // Its other settings are those of an open loop all the same.
        ValidationCase{"RateOfAnOpenLoop", kOld,
                       "iterations { rate: 'fast' max_parallel_iterations: "
                       "10000000 open_loop_interval_distribution: "
                       "'exponential' }",
                       kRate, "\"fast\" is not a rate"},
        ValidationCase{"DurationTwice", kOld,
                       "iterations { max_duration: '9us' max_duration_us: 9 }",
                       kIterations,
                       "has both max_duration and max_duration_us; give one"},
        ValidationCase{"DurationIsZero", kOld,
                       "iterations { max_duration: '0s' }",
                       "actions[\"run\"].iterations.max_duration",
                       "\"0s\" is out of range; must be from 1us to 277777h"},
        ValidationCase{
            "DurationIsTooLong", kOld, "iterations { max_duration: '277778h' }",
            "actions[\"run\"].iterations.max_duration", "is out of range"},
        ValidationCase{"DurationOfHalfAMicrosecond", kOld,
                       "iterations { max_duration: '1.5us' }",
                       "actions[\"run\"].iterations.max_duration",
                       "\"1.5us\" is not a whole number of microseconds"},
        ValidationCase{"WarmupHasAnExponent", kOld,
                       "iterations { warmup: '1e30s' }",
                       "actions[\"run\"].iterations.warmup",
                       "\"1e30s\" is not a duration; write it with its unit, "
                       "such as 500ms, 4s or 1h30m"},
        ValidationCase{"WarmupTwice", kOld,
                       "iterations { warmup: '9us' warmup_ns: 9000 }",
                       kIterations, "has both warmup and warmup_ns; give one"},
        ValidationCase{"Deadline", "fanout_filter: 'random'", "deadline: '-1s'",
                       "rpc_descriptions[\"query\"].deadline",
                       "\"-1s\" is not a duration"},
        ValidationCase{"DeadlineTwice", "fanout_filter: 'random'",
                       "deadline: '1s' deadline_us: 1",
                       "rpc_descriptions[\"query\"]",
                       "has both deadline and deadline_us; give one"},
        ValidationCase{"Size", "name: 'small' size: 100",
                       "name: 'small' size_with_unit: '100'",
                       "payload_descriptions[\"small\"].size_with_unit",
                       "\"100\" is not a size; write it with its unit"},
        ValidationCase{"SizeIsTooLarge", "name: 'small' size: 100",
                       "name: 'small' size_with_unit: '2GiB'",
                       "payload_descriptions[\"small\"].size_with_unit",
                       "\"2GiB\" is out of range; must be from 0B to "
                       "2147483647B"},
        ValidationCase{"SizeTwice", "name: 'small' size: 100",
                       "name: 'small' size: 100 size_with_unit: '100B'",
                       "payload_descriptions[\"small\"]",
                       "has both size_with_unit and size; give one"},
        ValidationCase{"SizeIsDrawnToo", "name: 'small' size: 100",
                       "name: 'small' size_with_unit: '100B' "
                       "size_distribution_name: 'sizes'",
                       "payload_descriptions[\"small\"]",
                       "has both a size and size_distribution_name"}),
    [](const auto& info) { return info.param.rule; });

TEST(Quantities, MayHaveAnyNumberInRange) {
  for (const char* text :
       {"iterations { rate: '0.0036/h' max_duration: '1us' warmup: '0s' }",
        "iterations { max_duration: '1000000000s' warmup: '1000000000s' }"}) {
    EXPECT_THAT(ProblemsAfter(kOld, text), IsEmpty()) << text;
  }
  EXPECT_THAT(ProblemsAfter("name: 'small' size: 100",
                            "name: 'small' size_with_unit: '2147483647B'"),
              IsEmpty());
}

}  // namespace
}  // namespace distbench::config
