#include "distbench/products/history/trends/change_points.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "distbench/products/history/testing/simulated_histories.h"
#include "distbench/products/history/trends/division.h"

namespace distbench::history {
namespace {

using testing::DoubleNear;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kSeed = 7;

// The definition, in O(n^2).
double EnergyOf(absl::Span<const double> first,
                absl::Span<const double> second) {
  const auto mean_distance = [](absl::Span<const double> a,
                                absl::Span<const double> b) {
    double sum = 0;
    for (const double x : a) {
      for (const double y : b) sum += std::abs(x - y);
    }
    return sum / static_cast<double>(a.size() * b.size());
  };
  return (2 * mean_distance(first, second) - mean_distance(first, first) -
          mean_distance(second, second)) *
         static_cast<double>(first.size() * second.size()) /
         static_cast<double>(first.size() + second.size());
}

TEST(EnergyScanTest, FindsTheDivisionOfTheDefinition) {
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 50; ++i) {
    std::vector<double> values(20);
    // Few different values, so that there are equal ones.
    for (double& value : values) value = static_cast<double>(random() % 6);
    constexpr size_t kMinPart = 3;
    Division expected;
    for (size_t j = kMinPart; j + kMinPart <= values.size(); ++j) {
      const absl::Span<const double> all(values);
      const double distance = EnergyOf(all.first(j), all.subspan(j));
      if (distance > expected.distance + 1e-9) expected = {j, distance};
    }
    EnergyScan scan(values, kMinPart);
    const Division found = scan.Best(scan.order());
    EXPECT_THAT(found.distance, DoubleNear(expected.distance, 1e-9));
    const absl::Span<const double> all(values);
    EXPECT_THAT(EnergyOf(all.first(found.index), all.subspan(found.index)),
                DoubleNear(expected.distance, 1e-9));
  }
}

TEST(EnergyScanTest, CountsValuesOfAnyRange) {
  for (const double scale : {1e-300, 1.0, 1e305}) {
    std::vector<double> values(20, -5 * scale);
    std::fill(values.begin() + 12, values.end(), 5 * scale);
    EnergyScan scan(values, /*min_part=*/5);
    const Division found = scan.Best(scan.order());
    EXPECT_EQ(found.index, 12u);
    // 12 * 8 / 20 times twice the distance.
    EXPECT_THAT(found.distance / scale, DoubleNear(4.8 * 2 * 10, 1e-6));
  }
}

TEST(EnergyScanTest, FindsDivisionsWhoseRangeIsNoNumber) {
  std::vector<double> values(20, -1e308);
  std::fill(values.begin() + 12, values.end(), 1e308);
  EnergyScan scan(values, /*min_part=*/5);
  EXPECT_EQ(scan.Best(scan.order()).index, 12u);
}

// Of n zeros and n ones, two of (2 n)! / n!^2 orders separate all.
TEST(EnergyScanTest, BoundsTheProbabilityOfADistance) {
  for (const int n : {8, 30, 100}) {
    std::vector<double> values(n, 0.0);
    values.resize(2 * n, 1.0);
    EnergyScan scan(values, /*min_part=*/5);
    const double bound =
        scan.ProbabilityBound(scan.Best(scan.order()).distance);
    const double log_probability =
        std::log(2) + 2 * std::lgamma(n + 1) - std::lgamma(2 * n + 1);
    EXPECT_GE(std::log(bound), log_probability) << n;
    EXPECT_LT(std::log(bound), 0.5 * log_probability + 4) << n;
    EXPECT_EQ(scan.ProbabilityBound(0), 1);
  }
  const EnergyScan equal(std::vector<double>(20, 1.0), /*min_part=*/5);
  EXPECT_EQ(equal.ProbabilityBound(0), 1);
}

TEST(SpreadScanTest, DividesWhereDistancesGrow) {
  std::vector<double> distances(40, 0.0);
  for (int i = 0; i < 30; ++i) distances.push_back(1 + i % 3);
  const SpreadScan scan(distances, 5);
  EXPECT_EQ(scan.Best(scan.order()).index, 40u);

  // One outlier is no change of the spread.
  std::vector<double> outlier(70, 1.0);
  outlier[40] = 5;
  const SpreadScan other(outlier, 5);
  EXPECT_LT(other.Best(other.order()).distance,
            scan.Best(scan.order()).distance / 10);

  const std::vector<double> zeros(20, 0.0);
  const SpreadScan none(zeros, 5);
  EXPECT_EQ(none.Best(none.order()).distance, 0);
}

TEST(FindChangesTest, DescribesAStep) {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) {
    values.push_back((i < 40 ? 100 : 110) + i % 3);
  }
  const Judgement judgement = FindChanges(values, 1);
  ASSERT_THAT(judgement.changes, SizeIs(1));
  const ChangePoint& change = judgement.changes[0];
  EXPECT_EQ(change.index, 40u);
  EXPECT_EQ(change.kind, ChangeKind::kLevel);
  EXPECT_THAT(change.before, DoubleNear(101, 0.1));
  EXPECT_THAT(change.after, DoubleNear(111, 0.1));
  EXPECT_THAT(change.relative, DoubleNear(0.099, 0.001));
  EXPECT_LE(change.p_value, kAlarmProbability);
  ASSERT_THAT(judgement.segments, SizeIs(2));
  EXPECT_EQ(judgement.segments[0].last, 39u);
  EXPECT_EQ(judgement.segments[1].first, 40u);
  EXPECT_LT(judgement.segments[0].noise_high, judgement.segments[1].noise_low);
}

TEST(FindChangesTest, ClearChangesNeedNoPermutations) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back((i < 700 ? 100 : 110) + i % 5);
  }
  const Judgement judgement = FindChanges(values, 1);
  ASSERT_THAT(judgement.changes, SizeIs(1));
  EXPECT_EQ(judgement.changes[0].index, 700u);
  // Less than the least share of 1000 orders, 5 times.
  EXPECT_LT(judgement.changes[0].p_value, 0.005);
}

TEST(FindChangesTest, TellsASpreadFromALevel) {
  std::mt19937_64 random(kSeed);
  HistoryModel model;
  model.variation = 0.01;
  std::vector<double> values = SimulateHistory(model, random);
  model.variation = 0.04;
  const std::vector<double> wide = SimulateHistory(model, random);
  values.insert(values.end(), wide.begin(), wide.end());
  const Judgement judgement = FindChanges(values, 1);
  const auto spread = std::find_if(
      judgement.changes.begin(), judgement.changes.end(),
      [](const ChangePoint& c) { return c.index > 190 && c.index < 210; });
  ASSERT_NE(spread, judgement.changes.end());
  EXPECT_EQ(spread->kind, ChangeKind::kSpread);
  EXPECT_GT(spread->relative, 1);
}

TEST(FindChangesTest, IsDeterministic) {
  std::mt19937_64 random(kSeed);
  HistoryModel model;
  model.five_percent = 100;
  const std::vector<double> values = SimulateHistory(model, random);
  const Judgement first = FindChanges(values, 3);
  const Judgement second = FindChanges(values, 3);
  ASSERT_THAT(first.changes, SizeIs(second.changes.size()));
  for (size_t i = 0; i < first.changes.size(); ++i) {
    EXPECT_EQ(first.changes[i].index, second.changes[i].index);
    EXPECT_EQ(first.changes[i].p_value, second.changes[i].p_value);
  }
}

TEST(FindChangesTest, NothingChangesWhereThereIsNothingToChange) {
  EXPECT_THAT(FindChanges({}, 1).segments, IsEmpty());
  EXPECT_THAT(FindChanges(std::vector<double>(100, 0.0), 1).changes, IsEmpty());
  std::vector<double> few = {1, 1, 1, 1, 9, 9, 9, 9, 9};
  ASSERT_LT(few.size(), kMinJudgedPoints);
  EXPECT_THAT(FindChanges(few, 1).changes, IsEmpty());
  EXPECT_THAT(FindChanges(few, 1).segments, SizeIs(1));
}

// docs/products/history.md has the figures of more histories.
TEST(FindChangesTest, FindsPlantedChanges) {
  constexpr int kHistories = 40;
  const DetectionPower power =
      MeasurePower({}, kHistories, /*series_count=*/1, kSeed);
  EXPECT_GE(power.found_five_percent, 36);
  EXPECT_GE(power.found_ten_percent, 36);
  EXPECT_GE(power.noticed_spread, 34);
  HistoryModel tripled;
  tripled.spread_factor = 3;
  EXPECT_GE(
      MeasurePower(tripled, kHistories, /*series_count=*/1, kSeed).found_spread,
      34);
}

TEST(FindChangesTest, AlarmsAreRareWithoutChanges) {
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
