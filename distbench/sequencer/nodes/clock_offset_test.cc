// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/nodes/clock_offset.h"

#include <cstdint>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

TEST(ClockOffsetEstimatorTest, KnowsNothingBeforeTheFirstRoundTrip) {
  EXPECT_FALSE(ClockOffsetEstimator().estimate().has_value());
}

TEST(ClockOffsetEstimatorTest, LearnsNothingFromTimesBeforeTheEpoch) {
  constexpr int64_t kNow = 1'600'000'000'000'000'000;
  ClockOffsetEstimator estimator;
  estimator.AddRoundTrip(std::numeric_limits<int64_t>::min(), kNow, kNow);
  estimator.AddRoundTrip(kNow, std::numeric_limits<int64_t>::min(), kNow + 2);
  EXPECT_FALSE(estimator.estimate().has_value());
}

TEST(ClockOffsetEstimatorTest, TrustsTheShortestRoundTrip) {
  ClockOffsetEstimator estimator;
  // The other clock is 5000 ns ahead. In the long round trips, the answers were
  // delayed.
  estimator.AddRoundTrip(1000, 6010, 2000);
  estimator.AddRoundTrip(3000, 8050, 3100);
  estimator.AddRoundTrip(4000, 9400, 4500);
  const ClockOffset offset = estimator.estimate().value();
  EXPECT_EQ(offset.offset_ns, 5000);
  EXPECT_EQ(offset.error_ns, 51);
  EXPECT_TRUE(offset.exceeds_error());
}

TEST(ClockOffsetEstimatorTest, ErrorCoversAnyAsymmetryOfThePath) {
  ClockOffsetEstimator estimator;
  // The clocks are equal; the whole delay was on the way back.
  estimator.AddRoundTrip(1000, 1000, 1101);
  const ClockOffset offset = estimator.estimate().value();
  EXPECT_LE(-offset.error_ns, offset.offset_ns);
  EXPECT_FALSE(offset.exceeds_error());
}

TEST(ClockOffsetEstimatorTest, ForgetsWhatIsLongAgo) {
  ClockOffsetEstimator estimator;
  estimator.AddRoundTrip(0, 100, 0);
  for (int i = 0; i < ClockOffsetEstimator::kRoundTrips; ++i) {
    estimator.AddRoundTrip(1000, 2000, 1100);
  }
  EXPECT_EQ(estimator.estimate()->offset_ns, 950);
}

TEST(ClockOffsetEstimatorTest, IgnoresRoundTripsThatAClockStepSpoilt) {
  ClockOffsetEstimator estimator;
  estimator.AddRoundTrip(1000, 1000, 900);
  EXPECT_FALSE(estimator.estimate().has_value());
}

}  // namespace
}  // namespace distbench::sequencer
