// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/trends/change_points.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "distbench/products/history/testing/simulated_histories.h"

namespace distbench::history {
namespace {

using testing::DoubleNear;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kSeed = 7;

TEST(FindChangesTest, DescribesAStep) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) {
    values.push_back((i < 40 ? 100 : 110) + i % 3);
  }
  const Trend trend = FindChanges(values, 1);
  ASSERT_THAT(trend.changes(), SizeIs(1));
  const TrendChange& change = trend.changes(0);
  EXPECT_EQ(change.index(), 40);
  EXPECT_THAT(change.before(), DoubleNear(101, 0.1));
  EXPECT_THAT(change.after(), DoubleNear(111, 0.1));
  EXPECT_THAT(change.relative(), DoubleNear(0.099, 0.001));
  EXPECT_LE(change.p_value(), kAlarmProbability);
  ASSERT_THAT(trend.segments(), SizeIs(2));
  EXPECT_EQ(trend.segments(0).last(), 39);
  EXPECT_EQ(trend.segments(1).first(), 40);
  EXPECT_LT(trend.segments(0).noise_high(), trend.segments(1).noise_low());
}

// Figures of servers may be negative, as a difference of clocks is.
TEST(FindChangesTest, ARiseIsOneOfNegativeValuesToo) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) {
    values.push_back((i < 40 ? -100 : -50) + i % 3);
  }
  const Trend trend = FindChanges(values, 1);
  ASSERT_THAT(trend.changes(), SizeIs(1));
  EXPECT_THAT(trend.changes(0).relative(), DoubleNear(0.505, 0.001));
}

// Its probability is far below one in the number of orders that are tried.
TEST(FindChangesTest, ClearChangesAreProvenAmongManySeries) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) {
    values.push_back((i < 70 ? 100 : 110) + i % 5);
  }
  const Trend trend = FindChanges(values, /*series_count=*/1000);
  ASSERT_THAT(trend.changes(), SizeIs(1));
  EXPECT_EQ(trend.changes(0).index(), 70);
  EXPECT_LT(trend.changes(0).p_value(), 0.001);
}

// 5 of 12 values divide like this in at least 1 of 792 orders: that is no proof
// after 200 looks, however clear the division is.
TEST(FindChangesTest, FewValuesProveNothing) {
  std::vector<double> values(7, 1.0);
  values.resize(12, 1000.0);
  EXPECT_THAT(FindChanges(values, 1).changes(), IsEmpty());
  values.assign(25, 1.0);
  values.resize(30, 1000.0);
  EXPECT_THAT(FindChanges(values, 1).changes(), SizeIs(1));
}

TEST(FindChangesTest, FindsChangesOfAnyRange) {
  for (const double scale : {1e-300, 1.0, 1e305, 3e307}) {
    std::vector<double> values(20, -5 * scale);
    values.resize(40, 5 * scale);
    const Trend trend = FindChanges(values, 1);
    ASSERT_THAT(trend.changes(), SizeIs(1)) << scale;
    EXPECT_EQ(trend.changes(0).index(), 20);
  }
}

// The energy distances of all divisions, by their definition.
TEST(FindChangesTest, DividesWhereTheDefinitionDoes) {
  std::mt19937_64 random(kSeed);
  HistoryModel model;
  model.nights = 60;
  model.step_night = 37;
  model.step = 0.15;
  const std::vector<double> values = SimulateHistory(model, random);
  const auto mean_distance = [&](size_t a, size_t a_end, size_t b,
                                 size_t b_end) {
    double sum = 0;
    for (size_t i = a; i < a_end; ++i) {
      for (size_t j = b; j < b_end; ++j) sum += std::abs(values[i] - values[j]);
    }
    return sum / static_cast<double>((a_end - a) * (b_end - b));
  };
  size_t best = 0;
  double greatest = 0;
  for (size_t i = kMinSegmentPoints; i + kMinSegmentPoints <= 60; ++i) {
    const double distance =
        (2 * mean_distance(0, i, i, 60) - mean_distance(0, i, 0, i) -
         mean_distance(i, 60, i, 60)) *
        static_cast<double>(i * (60 - i)) / 60;
    if (distance <= greatest) continue;
    greatest = distance;
    best = i;
  }
  const Trend trend = FindChanges(values, 1);
  ASSERT_THAT(trend.changes(), SizeIs(1));
  EXPECT_EQ(trend.changes(0).index(), best);
}

TEST(FindChangesTest, IsDeterministic) {
  std::mt19937_64 random(kSeed);
  HistoryModel model;
  model.step_night = 100;
  const std::vector<double> values = SimulateHistory(model, random);
  const Trend first = FindChanges(values, 3);
  const Trend second = FindChanges(values, 3);
  ASSERT_THAT(first.changes(), SizeIs(second.changes().size()));
  for (int i = 0; i < first.changes_size(); ++i) {
    EXPECT_EQ(first.changes(i).index(), second.changes(i).index());
    EXPECT_EQ(first.changes(i).p_value(), second.changes(i).p_value());
  }
}

TEST(FindChangesTest, NothingChangesWhereThereIsNothingToChange) {
  EXPECT_THAT(FindChanges({}, 1).segments(), IsEmpty());
  EXPECT_THAT(FindChanges(std::vector<double>(100, 0.0), 1).changes(),
              IsEmpty());
  std::vector<double> few = {1, 1, 1, 1, 9, 9, 9, 9, 9};
  ASSERT_LT(few.size(), kMinJudgedPoints);
  EXPECT_THAT(FindChanges(few, 1).changes(), IsEmpty());
  EXPECT_THAT(FindChanges(few, 1).segments(), SizeIs(1));
}

// docs/products/history.md has the figures of more histories.
TEST(FindChangesTest, FindsStepsWithinFifteenNights) {
  constexpr int kHistories = 60;
  // Of 60 that are found with a probability of 97.5 %, 55 or more with 99.7 %.
  EXPECT_GE(MeasurePower({}, kHistories, /*series_count=*/1, kSeed).found, 55);
}

TEST(FindChangesTest, AlarmsAreRareWhateverTheNumberOfLooks) {
  constexpr int kHistories = 100;
  for (const Noise noise : {Noise::kNormal, Noise::kHeavyTails}) {
    HistoryModel model;
    model.noise = noise;
    // Of 100 alarms with a probability of 5 %, 11 or fewer with 99.6 %.
    EXPECT_LE(CountFalseAlarms(model, kHistories, /*series_count=*/1, kSeed),
              11);
  }
}

}  // namespace
}  // namespace distbench::history
