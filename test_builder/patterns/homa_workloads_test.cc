// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/patterns/homa_workloads.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

constexpr SizeBuckets kEverySize = {.max_message_bytes = 1'000'000'000,
                                    .min_bucket_fraction = 0,
                                    .max_size_ratio = 1};
constexpr SizeBuckets kDefault = {.max_message_bytes = 1'000'000,
                                  .min_bucket_fraction = 0.0025,
                                  .max_size_ratio = 1.2};

class HomaWorkloadsTest : public testing::TestWithParam<std::string> {};

TEST_P(HomaWorkloadsTest, IsADistribution) {
  for (const SizeBuckets& buckets : {kEverySize, kDefault}) {
    const MessageSizeCdf sizes = HomaMessageSizes(GetParam(), buckets);
    ASSERT_FALSE(sizes.points.empty());
    int64_t last_bytes = 0;
    double last_cdf = 0;
    for (const MessageSizeCdf::Point& point : sizes.points) {
      EXPECT_GT(point.bytes, last_bytes);
      EXPECT_GT(point.cdf, last_cdf);
      last_bytes = point.bytes;
      last_cdf = point.cdf;
    }
    EXPECT_EQ(last_cdf, 1);
    EXPECT_GT(sizes.mean_bytes, sizes.points.front().bytes);
    EXPECT_LT(sizes.mean_bytes, sizes.points.back().bytes);
  }
}

TEST_P(HomaWorkloadsTest, BucketsKeepTheMeanAboutAsItIs) {
  SizeBuckets uncut = kDefault;
  uncut.max_message_bytes = kEverySize.max_message_bytes;
  const double exact = HomaMessageSizes(GetParam(), kEverySize).mean_bytes;
  const double thinned = HomaMessageSizes(GetParam(), uncut).mean_bytes;
  EXPECT_NEAR(thinned / exact, 1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, HomaWorkloadsTest,
                         testing::Values("w1", "w2", "w3", "w4", "w5"),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

TEST(HomaWorkloadsTest, LargeMessagesAreCut) {
  const MessageSizeCdf sizes =
      HomaMessageSizes("w5", {.max_message_bytes = 5000,
                              .min_bucket_fraction = 0,
                              .max_size_ratio = 1});
  ASSERT_EQ(sizes.points.size(), 4);
  EXPECT_EQ(sizes.points[2].bytes, 4290);
  EXPECT_EQ(sizes.points[2].cdf, 0.075);
  EXPECT_EQ(sizes.points[3].bytes, 5000);
  EXPECT_EQ(sizes.points[3].cdf, 1);
  EXPECT_NEAR(sizes.mean_bytes, 0.025 * (1430 + 2860 + 4290) + 0.925 * 5000,
              1e-6);
}

TEST(HomaWorkloadsTest, BucketsAreAtLeastAsLargeAsAskedFor) {
  const MessageSizeCdf sizes =
      HomaMessageSizes("w1", {.max_message_bytes = 1'000'000,
                              .min_bucket_fraction = 0.1,
                              .max_size_ratio = 1e9});
  double last_cdf = 0;
  for (const MessageSizeCdf::Point& point : sizes.points) {
    if (point.cdf < 1) EXPECT_GE(point.cdf - last_cdf, 0.1);
    last_cdf = point.cdf;
  }
  EXPECT_GE(sizes.points.size(), 3);
}

}  // namespace
}  // namespace distbench::test_builder
