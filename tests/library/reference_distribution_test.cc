// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/library/reference_distribution.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using testing::HasSubstr;

ReferenceDistribution Parsed(absl::string_view csv,
                             absl::string_view rows = "") {
  auto reference = ReferenceDistribution::Parse(csv, rows);
  EXPECT_TRUE(reference.ok()) << reference.status();
  return reference.ok() ? *std::move(reference) : ReferenceDistribution();
}

TEST(ReferenceDistributionTest, IsLinearBetweenPercentages) {
  const auto reference =
      Parsed("bytes,cumulative_percent\n0,0\n100,50\n200,100\n");
  EXPECT_DOUBLE_EQ(reference.UpTo(50), 0.25);
  EXPECT_DOUBLE_EQ(reference.Below(50), 0.25);
  EXPECT_DOUBLE_EQ(reference.UpTo(150), 0.75);
  EXPECT_DOUBLE_EQ(reference.UpTo(-1), 0);
  EXPECT_DOUBLE_EQ(reference.UpTo(300), 1);
}

TEST(ReferenceDistributionTest, HasStepsAtWeightedValues) {
  const auto reference =
      Parsed("of,bytes,weight\nb,1,9\na,10,1\na,20,3\n", "a");
  EXPECT_DOUBLE_EQ(reference.Below(10), 0);
  EXPECT_DOUBLE_EQ(reference.UpTo(10), 0.25);
  EXPECT_DOUBLE_EQ(reference.Below(20), 0.25);
  EXPECT_DOUBLE_EQ(reference.UpTo(20), 1);
}

TEST(ReferenceDistributionTest, ErrorsNameTheLine) {
  const auto error = [](absl::string_view csv) {
    return ReferenceDistribution::Parse(csv, "").status().ToString();
  };
  EXPECT_THAT(error(""), HasSubstr("there is no header"));
  EXPECT_THAT(error("a,b\n1,2\n"), HasSubstr("line 1: the last column"));
  EXPECT_THAT(error("a,weight\n1,x\n"), HasSubstr("line 2: expected a value"));
  EXPECT_THAT(error("a,weight\n2,1\n1,1\n"), HasSubstr("line 3: values and"));
  EXPECT_THAT(error("a,weight\n"), HasSubstr("there are no rows"));
}

TEST(KolmogorovDistanceTest, IsTheLargestDifference) {
  const auto reference = Parsed("bytes,cumulative_percent\n0,0\n100,100\n");
  EXPECT_NEAR(KolmogorovDistance({25, 50, 75, 100}, reference, 0), 0.25, 1e-9);
  EXPECT_NEAR(KolmogorovDistance({80, 85, 90, 95}, reference, 0), 0.8, 1e-9);
  EXPECT_NEAR(KolmogorovDistance({25, 50, 75, 100}, reference, 100), 0.25,
              1e-9);
}

TEST(KolmogorovDistanceTest, IsZeroForEqualSteps) {
  const auto reference = Parsed("bytes,weight\n10,1\n20,3\n");
  EXPECT_NEAR(KolmogorovDistance({10, 20, 20, 20}, reference, 0), 0, 1e-9);
}

TEST(KolmogorovDistanceTest, IgnoresSmallValues) {
  const auto reference = Parsed("bytes,weight\n3,1\n20,3\n");
  const std::vector<double> sample = {12, 20, 20, 20};
  EXPECT_NEAR(KolmogorovDistance(sample, reference, 0), 0.25, 1e-9);
  EXPECT_NEAR(KolmogorovDistance(sample, reference, 16), 0, 1e-9);
}

}  // namespace
}  // namespace distbench
