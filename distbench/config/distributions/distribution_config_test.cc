#include "distbench/config/distributions/distribution_config.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

constexpr int kDraws = 100'000;

Distribution DistributionOf(const std::string& text) {
  const auto config = FromText<DistributionConfig>(text);
  return MakeDistribution(config);
}

std::map<int64_t, int> CountDraws(const Distribution& distribution) {
  std::mt19937_64 random(1);
  std::map<int64_t, int> counts;
  for (int i = 0; i < kDraws; ++i) ++counts[distribution.Draw(random)[0]];
  return counts;
}

TEST(MakeDistribution, CdfIsAStepFunction) {
  auto counts = CountDraws(DistributionOf(R"(
    field_names: 'payload_size'
    cdf_points { value: 10 cdf: 0.25 }
    cdf_points { value: 20 cdf: 0.25 }
    cdf_points { value: 30 cdf: 1 })"));
  EXPECT_THAT(counts, ElementsAre(Key(10), Key(30)));
  EXPECT_NEAR(counts[10], 0.25 * kDraws, 0.01 * kDraws);
}

TEST(MakeDistribution, CdfThatStartsAtZeroIsMadeOfIntervals) {
  auto counts = CountDraws(DistributionOf(R"(
    cdf_points { value: 1 cdf: 0 }
    cdf_points { value: 3 cdf: 0.3 }
    cdf_points { value: 5 cdf: 1 })"));
  EXPECT_THAT(counts, ElementsAre(Key(1), Key(2), Key(3), Key(4), Key(5)));
  for (int value = 1; value <= 3; ++value) {
    EXPECT_NEAR(counts[value], 0.1 * kDraws, 0.01 * kDraws);
  }
  for (int value = 4; value <= 5; ++value) {
    EXPECT_NEAR(counts[value], 0.35 * kDraws, 0.01 * kDraws);
  }
}

TEST(MakeDistribution, CdfOfTwoFieldsDrawsBothInsideOneBucket) {
  const Distribution distribution = DistributionOf(R"(
    field_names: 'request_payload_size'
    field_names: 'response_payload_size'
    cdf_points { value: 0 cdf: 0 }
    cdf_points { value: 9 cdf: 0.5 }
    cdf_points { value: 19 cdf: 1 })");
  std::mt19937_64 random(1);
  int equal = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto [request, response] = distribution.Draw(random);
    ASSERT_EQ(request / 10, response / 10);
    if (request == response) ++equal;
  }
  EXPECT_NEAR(equal, 0.1 * kDraws, 0.01 * kDraws);
}

TEST(MakeDistribution, PmfOfOneField) {
  auto counts = CountDraws(DistributionOf(R"(
    field_names: 'action_delay_ns'
    pmf_points { pmf: 0.5 data_points { exact: 3000000000 } }
    pmf_points {
      pmf: 0.5 data_points { lower: 4000000000 upper: 4000000001 }
    })"));
  EXPECT_THAT(counts, ElementsAre(Key(3'000'000'000), Key(4'000'000'000),
                                  Key(4'000'000'001)));
}

constexpr char kPmf[] = R"(
  pmf_points {
    pmf: 1 data_points { exact: 1024 } data_points { lower: 2 upper: 9 }
  })";

TEST(MakeDistribution, PmfOfTwoFields) {
  for (const std::string fields :
       {"", "field_names: ['request_payload_size', 'response_payload_size']"}) {
    const Distribution distribution = DistributionOf(kPmf + fields);
    EXPECT_EQ(distribution.dimensions(), 2);
    EXPECT_EQ(distribution.Bounds(0).lower, 1024);
    EXPECT_EQ(distribution.Bounds(1).upper, 9);
  }
}

TEST(MakeDistribution, TheRequestComesFirstHoweverTheFieldsAreListed) {
  const Distribution distribution = DistributionOf(
      std::string(kPmf) +
      "field_names: ['response_payload_size', 'request_payload_size']");
  EXPECT_EQ(distribution.Bounds(0).upper, 9);
  EXPECT_EQ(distribution.Bounds(1).lower, 1024);
}

}  // namespace
}  // namespace distbench
