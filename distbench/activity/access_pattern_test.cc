// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/access_pattern.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

using Kind = AccessOptions::Kind;

constexpr int kDraws = 200'000;

std::vector<double> SharesOf(const AccessOptions& options, int64_t count) {
  const AccessPattern pattern(options, count);
  base::WorkRandom random(1);
  std::vector<double> shares(count);
  for (int i = 0; i < kDraws; ++i) shares.at(pattern.Next(random)) += 1;
  for (double& share : shares) share /= kDraws;
  return shares;
}

TEST(AccessPatternTest, UniformAddressesAreEquallyLikely) {
  for (const double share : SharesOf({.kind = Kind::kUniform}, 50)) {
    EXPECT_NEAR(share, 0.02, 0.002);
  }
}

// 68.3 % are within a standard deviation, if the ends are far away.
TEST(AccessPatternTest, NormalAddressesAreInTheMiddle) {
  const auto shares = SharesOf({.kind = Kind::kNormal, .spread = 0.1}, 1000);
  double near = 0;
  for (int i = 400; i < 600; ++i) near += shares[i];
  EXPECT_NEAR(near, 0.6827, 0.005);
}

// Nothing accumulates at the ends.
TEST(AccessPatternTest, WideNormalAddressesAreCutOff) {
  const auto shares = SharesOf({.kind = Kind::kNormal, .spread = 1}, 10);
  // The density at the ends relative to that in the middle, exp(-1/8).
  EXPECT_NEAR(shares.front() / shares[5], std::exp(-0.45 * 0.45 / 2), 0.03);
  EXPECT_NEAR(shares.front(), shares.back(), 0.005);
}

TEST(AccessPatternTest, WithoutSpreadThereIsOneAddress) {
  EXPECT_EQ(SharesOf({.kind = Kind::kNormal, .spread = 0}, 11)[5], 1);
}

TEST(AccessPatternTest, ZipfAddressesFollowThePowerLaw) {
  for (const double skew : {0.5, 0.99, 1.0, 2.0}) {
    const int64_t count = 100;
    double sum = 0;
    for (int i = 1; i <= count; ++i) sum += std::pow(i, -skew);
    const auto shares = SharesOf({.kind = Kind::kZipf, .skew = skew}, count);
    for (const int i : {0, 1, 2, 9, 49, 99}) {
      const double expected = std::pow(i + 1, -skew) / sum;
      // Four standard errors.
      EXPECT_NEAR(shares[i], expected, 4 * std::sqrt(expected / kDraws))
          << skew << " " << i;
    }
  }
}

TEST(AccessPatternTest, ASetOfOneHasOneAddress) {
  for (const Kind kind : {Kind::kUniform, Kind::kNormal, Kind::kZipf}) {
    EXPECT_EQ(SharesOf({.kind = kind}, 1)[0], 1);
  }
}

TEST(AccessPatternTest, HugeSetsNeedNoTables) {
  const int64_t count = int64_t{1} << 50;
  for (const Kind kind : {Kind::kUniform, Kind::kNormal, Kind::kZipf}) {
    const AccessPattern pattern({.kind = kind}, count);
    base::WorkRandom random(1);
    for (int i = 0; i < 1000; ++i) {
      const int64_t address = pattern.Next(random);
      ASSERT_GE(address, 0);
      ASSERT_LT(address, count);
    }
  }
}

}  // namespace
}  // namespace distbench::activity
