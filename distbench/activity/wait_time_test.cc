// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/wait_time.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

constexpr int kWaits = 200'000;
constexpr int64_t kMeanNs = 1'000'000;

struct Moments {
  double mean;
  double deviation;
};

Moments MomentsOf(const WaitTime& time) {
  double sum = 0;
  double sum_of_squares = 0;
  for (int i = 0; i < kWaits; ++i) {
    const auto ns = static_cast<double>(time.Ns(i));
    sum += ns;
    sum_of_squares += ns * ns;
  }
  const double mean = sum / kWaits;
  return {mean, std::sqrt(sum_of_squares / kWaits - mean * mean)};
}

TEST(WaitTimeTest, FixedTimesAreAllTheSame) {
  const WaitTime time = WaitTime::Fixed(kMeanNs);
  EXPECT_EQ(time.Ns(0), kMeanNs);
  EXPECT_EQ(time.Ns(12345), kMeanNs);
}

// Within five standard errors.
TEST(WaitTimeTest, ExponentialTimesHaveTheirMoments) {
  const Moments moments = MomentsOf(WaitTime::Exponential(kMeanNs, 1));
  EXPECT_NEAR(moments.mean, kMeanNs, 5 * kMeanNs / std::sqrt(kWaits));
  EXPECT_NEAR(moments.deviation, kMeanNs, 0.02 * kMeanNs);
}

TEST(WaitTimeTest, ExponentialTimesHaveTheirQuantiles) {
  const WaitTime time = WaitTime::Exponential(kMeanNs, 2);
  int beyond = 0;
  for (int i = 0; i < kWaits; ++i) beyond += time.Ns(i) > 3 * kMeanNs ? 1 : 0;
  const double expected = kWaits * std::exp(-3);
  EXPECT_NEAR(beyond, expected, 5 * std::sqrt(expected));
}

TEST(WaitTimeTest, LogNormalTimesHaveTheirMoments) {
  constexpr double kSigma = 0.5;
  const Moments moments = MomentsOf(WaitTime::LogNormal(kMeanNs, kSigma, 3));
  const double deviation = kMeanNs * std::sqrt(std::expm1(kSigma * kSigma));
  EXPECT_NEAR(moments.mean, kMeanNs, 5 * deviation / std::sqrt(kWaits));
  EXPECT_NEAR(moments.deviation, deviation, 0.03 * deviation);
}

TEST(WaitTimeTest, TheSeedDecides) {
  const WaitTime one = WaitTime::Exponential(kMeanNs, 1);
  const WaitTime other = WaitTime::Exponential(kMeanNs, 2);
  EXPECT_EQ(one.Ns(7), WaitTime::Exponential(kMeanNs, 1).Ns(7));
  EXPECT_NE(one.Ns(7), one.Ns(8));
  EXPECT_NE(one.Ns(7), other.Ns(7));
}

}  // namespace
}  // namespace distbench::activity
