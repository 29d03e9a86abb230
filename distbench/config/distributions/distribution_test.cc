// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/distributions/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

using Box = Distribution::Box;

constexpr int kDraws = 100'000;
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Box Exactly(double probability, int64_t value) {
  return {probability, {{{value, value}, {value, value}}}};
}

std::map<int64_t, int> CountDraws(const Distribution& distribution) {
  std::mt19937_64 random(1);
  std::map<int64_t, int> counts;
  for (int i = 0; i < kDraws; ++i) ++counts[distribution.Draw(random)[0]];
  return counts;
}

// Allows five standard deviations of a binomial count.
void ExpectFrequency(int count, double probability) {
  const double deviation = std::sqrt(kDraws * probability * (1 - probability));
  EXPECT_NEAR(count, kDraws * probability, 5 * deviation);
}

TEST(Distribution, DrawsBoxesByTheirProbability) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> weights(1 + random() % 50);
    double sum = 0;
    for (double& weight : weights) sum += weight = random() % 100 + 1;
    std::vector<Box> boxes;
    for (int i = 0; i < weights.size(); ++i) {
      boxes.push_back(Exactly(weights[i] / sum, i));
    }
    std::map<int64_t, int> counts = CountDraws(Distribution(1, boxes));
    for (int i = 0; i < weights.size(); ++i) {
      ExpectFrequency(counts[i], weights[i] / sum);
    }
  }
}

TEST(Distribution, NeverDrawsBoxesOfProbabilityZero) {
  const Distribution distribution(
      1, {Exactly(0, 1), Exactly(0.5, 2), Exactly(0, 3), Exactly(0.499999, 4),
          Exactly(0, 5)});
  std::map<int64_t, int> counts = CountDraws(distribution);
  EXPECT_EQ(counts.size(), 2);
  EXPECT_EQ(counts[2] + counts[4], kDraws);
  EXPECT_EQ(distribution.Bounds(0).lower, 2);
  EXPECT_EQ(distribution.Bounds(0).upper, 4);
}

TEST(Distribution, DrawsRangesUniformlyWithBothEnds) {
  const Distribution distribution(1, {{1.0, {{{-2, 2}, {}}}}});
  std::map<int64_t, int> counts = CountDraws(distribution);
  EXPECT_EQ(counts.size(), 5);
  for (int64_t value = -2; value <= 2; ++value) {
    ExpectFrequency(counts[value], 0.2);
  }
}

TEST(Distribution, DrawsRangesBeyond32Bits) {
  for (const Distribution::Range range : {Distribution::Range{0, 3'000'000'000},
                                          {kMin, kMax},
                                          {kMax - 1, kMax},
                                          {kMin, kMin},
                                          {-1, int64_t{1} << 40}}) {
    const Distribution distribution(1, {{1.0, {{range, {}}}}});
    std::mt19937_64 random(3);
    int64_t smallest = kMax;
    int64_t largest = kMin;
    for (int i = 0; i < 10'000; ++i) {
      const int64_t value = distribution.Draw(random)[0];
      smallest = std::min(smallest, value);
      largest = std::max(largest, value);
    }
    EXPECT_GE(smallest, range.lower);
    EXPECT_LE(largest, range.upper);
    // As doubles, because the difference of the ends may exceed an int64_t.
    const double width =
        static_cast<double>(range.upper) - static_cast<double>(range.lower);
    EXPECT_GE(static_cast<double>(largest) - static_cast<double>(smallest),
              0.99 * width);
  }
}

TEST(Distribution, DrawsDimensionsSeparatelyInsideTheSameBox) {
  const Distribution distribution(
      2, {{0.5, {{{0, 9}, {100, 109}}}}, {0.5, {{{10, 19}, {110, 119}}}}});
  std::mt19937_64 random(5);
  int equal_offsets = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto [first, second] = distribution.Draw(random);
    ASSERT_EQ(first / 10, (second - 100) / 10);
    if (first + 100 == second) ++equal_offsets;
  }
  ExpectFrequency(equal_offsets, 0.1);
  EXPECT_EQ(distribution.Bounds(1).lower, 100);
  EXPECT_EQ(distribution.Bounds(1).upper, 119);
}

TEST(Distribution, OneDimensionGivesBothValues) {
  const Distribution distribution(1, {{1.0, {{{0, 1000}, {}}}}});
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    const auto [first, second] = distribution.Draw(random);
    ASSERT_EQ(first, second);
  }
}

TEST(Distribution, IsDeterminedByTheSeed) {
  const Distribution distribution(
      2, {{0.3, {{{0, 1000}, {0, 1000}}}}, {0.7, {{{0, kMax}, {5, 7}}}}});
  std::mt19937_64 a(11);
  std::mt19937_64 b(11);
  std::mt19937_64 c(12);
  int different = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto values = distribution.Draw(a);
    ASSERT_EQ(values, distribution.Draw(b));
    if (values != distribution.Draw(c)) ++different;
  }
  EXPECT_GT(different, 900);
}

Distribution DistributionOf(const std::string& text) {
  const auto config = base::FromText<DistributionConfig>(text);
  return MakeDistribution(config);
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
}  // namespace distbench::config
