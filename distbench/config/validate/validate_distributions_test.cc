// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

class BadPayload : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadPayload, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadPayload,
    ::testing::Values(
        ValidationCase{"NoSize", "name: 'small' size: 100", "name: 'small'",
                       "payload_descriptions[\"small\"]", "has no size"},
        ValidationCase{
            "TwoSizes", "name: 'small' size: 100",
            "name: 'small' size: 100 size_distribution_name: 'sizes'",
            "payload_descriptions[\"small\"]", "has both"},
        ValidationCase{"NegativeSize", "name: 'small' size: 100",
                       "name: 'small' size: -1",
                       "payload_descriptions[\"small\"].size",
                       "-1 is out of range; must be from 0 to 2147483647"},
        ValidationCase{"HugeSize", "name: 'small' size: 100",
                       "name: 'small' size: 3000000000",
                       "payload_descriptions[\"small\"].size",
                       "3000000000 is out of range"},
        ValidationCase{
            "UnknownDistribution", "size_distribution_name: 'sizes'",
            "size_distribution_name: 'size'",
            "payload_descriptions[\"varied\"].size_distribution_name",
            "no size_distribution_configs entry is named \"size\"; did you "
            "mean \"sizes\"?"}),
    [](const auto& info) { return info.param.rule; });

class BadDistribution : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadDistribution, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadDistribution,
    ::testing::Values(
        ValidationCase{
            "NoPoints",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }", "",
            "size_distribution_configs[\"sizes\"]", "has no points"},
        ValidationCase{
            "BothKinds",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } } "
            "cdf_points { cdf: 1 value: 1 }",
            "size_distribution_configs[\"sizes\"]",
            "has both pmf_points and cdf_points"},
        ValidationCase{
            "SizesOfTwoDimensions",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points { exact: 1 } data_points { exact: "
            "2 } }",
            "size_distribution_configs[\"sizes\"]",
            "has 2 dimensions; must be one field, \"payload_size\""},
        ValidationCase{
            "NoDataPoints",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 }", "size_distribution_configs[\"sizes\"]",
            "has 0 dimensions"},
        ValidationCase{
            "WrongFieldOfSizes",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } } "
            "field_names: 'size'",
            "size_distribution_configs[\"sizes\"].field_names",
            "\"size\" does not fit here; must be one field, \"payload_size\""},
        ValidationCase{"WrongFieldOfDelays",
                       "pmf_points { pmf: 1 data_points { exact: 1000 } }",
                       "pmf_points { pmf: 1 data_points { exact: 1000 } } "
                       "field_names: 'delay'",
                       "delay_distribution_configs[\"delays\"].field_names",
                       "must be one field, \"action_delay_ns\""},
        ValidationCase{
            "WrongJointFields", "field_names: 'payload_size'",
            "field_names: ['request_payload_size', 'payload_size']",
            "distribution_config[\"joint\"].field_names",
            "do not fit here; must be one field, \"payload_size\", or two, "
            "\"request_payload_size\" and \"response_payload_size\""},
        ValidationCase{
            "RepeatedField", "field_names: 'payload_size'",
            "field_names: ['request_payload_size', 'request_payload_size']",
            "distribution_config[\"joint\"].field_names", "do not fit here"},
        ValidationCase{"HalfOfJointFields", "field_names: 'payload_size'",
                       "field_names: 'request_payload_size'",
                       "distribution_config[\"joint\"].field_names",
                       "does not fit here"},
        ValidationCase{"ThreeFields", "field_names: 'payload_size'",
                       "field_names: ['a', 'b', 'c']",
                       "distribution_config[\"joint\"]", "has 3 dimensions"},
        ValidationCase{
            "NoProbability",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { data_points { exact: 1 } }",
            "size_distribution_configs[\"sizes\"].pmf_points[0].pmf",
            "is missing"},
        ValidationCase{
            "NegativeProbability",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points { exact: 1 } } pmf_points { pmf: "
            "-0.5 data_points { exact: 2 } }",
            "size_distribution_configs[\"sizes\"].pmf_points[1].pmf",
            "-0.5 is not a probability; must be from 0 to 1"},
        ValidationCase{
            "ProbabilityIsNoNumber",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: nan data_points { exact: 1 } }",
            "size_distribution_configs[\"sizes\"].pmf_points[0].pmf",
            "is not a probability"},
        ValidationCase{
            "InfiniteProbability",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: inf data_points { exact: 1 } }",
            "size_distribution_configs[\"sizes\"].pmf_points[0].pmf",
            "is not a probability"},
        ValidationCase{
            "SumBelowOne",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 0.5 data_points { exact: 1 } } pmf_points { "
            "pmf: 0.4 data_points { exact: 2 } }",
            "size_distribution_configs[\"sizes\"].pmf_points",
            "the probabilities sum to 0.9; they must sum to 1"},
        ValidationCase{
            "MissingDataPoint",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 0.5 data_points { exact: 1 } } pmf_points { "
            "pmf: 0.5 }",
            "size_distribution_configs[\"sizes\"].pmf_points[1].data_points",
            "there are 0; must be 1"},
        ValidationCase{
            "DataPointWithoutValue",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points {} }",
            "size_distribution_configs[\"sizes\"].pmf_points[0].data_points[0]",
            "has no value"},
        ValidationCase{
            "DataPointWithBoth",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points { exact: 1 upper: 2 } }",
            "size_distribution_configs[\"sizes\"].pmf_points[0].data_points[0]",
            "has both exact and a range"},
        ValidationCase{
            "RangeWithoutLower",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points { upper: 2 } }",
            "size_distribution_configs[\"sizes\"].pmf_points[0].data_points[0]",
            "has no lower"},
        ValidationCase{
            "RangeWithoutUpper",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points { lower: 2 } }",
            "size_distribution_configs[\"sizes\"].pmf_points[0].data_points[0]",
            "has no upper"},
        ValidationCase{
            "RangeUpsideDown",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points { lower: 3 upper: 2 } }",
            "size_distribution_configs[\"sizes\"].pmf_points[0].data_points[0]",
            "lower is 3 and upper is 2"},
        ValidationCase{
            "NegativeValue",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points { exact: -5 } }",
            "size_distribution_configs[\"sizes\"].pmf_points[0].data_points[0]",
            "-5 is out of range; must be from 0 to 2147483647"},
        ValidationCase{
            "HugeValue",
            "pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
            "pmf_points { pmf: 1 data_points { lower: 1 upper: 2147483648 } }",
            "size_distribution_configs[\"sizes\"].pmf_points[0].data_points[0]",
            "2147483648 is out of range"},
        ValidationCase{"CdfIsNoNumber", "cdf_points { cdf: 1 value: 16 }",
                       "cdf_points { cdf: nan value: 16 }",
                       "distribution_config[\"joint\"].cdf_points[0].cdf",
                       "is not a probability"},
        ValidationCase{"CdfIsMissing", "cdf_points { cdf: 1 value: 16 }",
                       "cdf_points { value: 16 }",
                       "distribution_config[\"joint\"].cdf_points[0].cdf",
                       "is missing"},
        ValidationCase{"CdfValueIsMissing", "cdf_points { cdf: 1 value: 16 }",
                       "cdf_points { cdf: 1 }",
                       "distribution_config[\"joint\"].cdf_points[0].value",
                       "is missing"},
        ValidationCase{"CdfDecreases", "cdf_points { cdf: 1 value: 16 }",
                       "cdf_points { cdf: 0.5 value: 1 } cdf_points { cdf: "
                       "0.25 value: 2 } cdf_points { cdf: 1 value: 3 }",
                       "distribution_config[\"joint\"].cdf_points[1].cdf",
                       "0.25 follows 0.5; probabilities must not decrease"},
        ValidationCase{
            "CdfValuesDoNotIncrease", "cdf_points { cdf: 1 value: 16 }",
            "cdf_points { cdf: 0.5 value: 2 } cdf_points { cdf: 1 value: 2 }",
            "distribution_config[\"joint\"].cdf_points[1].value",
            "2 follows 2; values must increase"},
        ValidationCase{"CdfEndsBelowOne", "cdf_points { cdf: 1 value: 16 }",
                       "cdf_points { cdf: 0.999999 value: 16 }",
                       "distribution_config[\"joint\"].cdf_points[0].cdf",
                       "is 0.999999; the last one must be 1"},
        ValidationCase{"CdfOfZeroAlone", "cdf_points { cdf: 1 value: 16 }",
                       "cdf_points { cdf: 0 value: 16 }",
                       "distribution_config[\"joint\"].cdf_points[0].cdf",
                       "the last one must be 1"},
        ValidationCase{
            "CdfValueOutOfRange", "cdf_points { cdf: 1 value: 16 }",
            "cdf_points { cdf: 0 value: -1 } cdf_points { cdf: 1 value: 1 }",
            "distribution_config[\"joint\"].cdf_points[0].value",
            "-1 is out of range"}),
    [](const auto& info) { return info.param.rule; });

TEST(ValidateDistributions, AcceptsJointFieldsInEitherOrder) {
  EXPECT_THAT(
      ProblemsAfter(
          "field_names: 'payload_size'",
          "field_names: ['response_payload_size', 'request_payload_size']"),
      ::testing::IsEmpty());
}

TEST(ValidateDistributions, AcceptsJointDimensionsWithoutNames) {
  EXPECT_THAT(
      ProblemsAfter(
          "field_names: 'payload_size'\n    cdf_points { cdf: 1 value: 16 }",
          "pmf_points { pmf: 1 data_points { exact: 1 } data_points { exact: 2 "
          "} }"),
      ::testing::IsEmpty());
}

TEST(ValidateDistributions, AcceptsLongDelays) {
  EXPECT_THAT(ProblemsAfter("data_points { exact: 1000 }",
                            "data_points { lower: 0 upper: 3000000000 }"),
              ::testing::IsEmpty());
}

TEST(ValidateDistributions, AcceptsSumsWithinRounding) {
  EXPECT_THAT(
      ProblemsAfter("pmf_points { pmf: 1 data_points { lower: 10 upper: 20 } }",
                    "pmf_points { pmf: 0.3333333 data_points { exact: 1 } } "
                    "pmf_points { pmf: 0.3333333 data_points { exact: 2 } } "
                    "pmf_points { pmf: 0.3333334 data_points { exact: 3 } }"),
      ::testing::IsEmpty());
}

TEST(ValidateDistributions, AcceptsSizeOfZero) {
  EXPECT_THAT(ProblemsAfter("name: 'small' size: 100", "name: 'small' size: 0"),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace distbench::config
