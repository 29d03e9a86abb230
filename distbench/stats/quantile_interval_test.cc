// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/quantile_interval.h"

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

constexpr double kConfidence = 0.95;

std::vector<OutcomesView> Views(const std::vector<Outcomes>& outcomes) {
  return std::vector<OutcomesView>(outcomes.begin(), outcomes.end());
}

TEST(OrderStatisticRanksTest, KnownCases) {
  // The extremes of 6 values contain the median with probability 1 - 2 / 2^6 =
  // 96.9 %; no two of 5 values suffice.
  EXPECT_EQ(OrderStatisticRanks(6, 0.5, kConfidence).lower, 1);
  EXPECT_EQ(OrderStatisticRanks(6, 0.5, kConfidence).upper, 6);
  EXPECT_EQ(OrderStatisticRanks(5, 0.5, kConfidence).lower, 0);
  EXPECT_EQ(OrderStatisticRanks(5, 0.5, kConfidence).upper, 6);
  // From the usual table for the median of 100 values.
  EXPECT_EQ(OrderStatisticRanks(100, 0.5, kConfidence).lower, 40);
  EXPECT_EQ(OrderStatisticRanks(100, 0.5, kConfidence).upper, 61);
}

TEST(SupportsQuantileTest, OneValueIsExpectedAbove) {
  EXPECT_TRUE(SupportsQuantile(100'000, 0.99999));
  EXPECT_FALSE(SupportsQuantile(99'999, 0.99999));
  EXPECT_TRUE(SupportsQuantile(2, 0.5));
  EXPECT_FALSE(SupportsQuantile(1, 0.5));
  EXPECT_FALSE(SupportsQuantile(0, 0.5));
}

TEST(MakeBlocksTest, FewOrEmptyPartsMakeNone) {
  std::vector<Outcomes> parts(kMinBlocks);
  for (Outcomes& part : parts) part.latency_ns.Record(5);
  EXPECT_EQ(MakeBlocks(Views(parts)).size(), kMinBlocks);
  parts[3] = Outcomes();
  EXPECT_EQ(MakeBlocks(Views(parts)).size(), 0);
}

TEST(MakeBlocksTest, ManyPartsArePutTogetherInOrder) {
  std::vector<Outcomes> parts(2 * kMaxBlocks);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].latency_ns.Record(i);
  const std::vector<Outcomes> blocks = MakeBlocks(Views(parts));
  ASSERT_EQ(blocks.size(), kMaxBlocks);
  for (int i = 0; i < kMaxBlocks; ++i) {
    EXPECT_EQ(blocks[i].count(), 2);
    EXPECT_EQ(blocks[i].latency_ns.min(), 2 * i);
    EXPECT_EQ(blocks[i].latency_ns.max(), 2 * i + 1);
  }
}

TEST(IntervalOfQuantileTest, TooFewValuesHaveNoUpperBound) {
  Outcomes histogram;
  for (int i = 1; i <= 100; ++i) histogram.latency_ns.Record(i);
  const QuantileInterval p99 =
      IntervalOfQuantile(histogram, {}, 0.99, kConfidence);
  EXPECT_EQ(p99.lower, 97);
  EXPECT_EQ(p99.upper, std::nullopt);
  EXPECT_EQ(IntervalOfQuantile(Outcomes(), {}, 0.5, kConfidence).lower,
            std::nullopt);
}

TEST(IntervalOfQuantileTest, BoundsFallAmongFailures) {
  Outcomes outcomes;
  for (int i = 1; i <= 985; ++i) outcomes.latency_ns.Record(i);
  outcomes.failed_count = 15;
  const QuantileInterval p98 =
      IntervalOfQuantile(outcomes, {}, 0.98, kConfidence);
  EXPECT_THAT(p98.lower, testing::Optional(testing::Lt(980)));
  EXPECT_EQ(p98.upper, Outcomes::kFailed);
  const QuantileInterval p999 =
      IntervalOfQuantile(outcomes, {}, 0.999, kConfidence);
  EXPECT_EQ(p999.lower, Outcomes::kFailed);
  EXPECT_EQ(p999.upper, std::nullopt);
}

// Ten percent of the requests fail, but all of them in every other block.
TEST(IntervalOfQuantileTest, FailuresThatComeTogetherMakeItWider) {
  std::vector<Outcomes> even(20);
  std::vector<Outcomes> uneven(20);
  Outcomes all;
  for (int i = 0; i < 20; ++i) {
    even[i].failed_count = 10;
    uneven[i].failed_count = i % 2 == 0 ? 20 : 0;
    for (int k = 1; k <= 90; ++k) even[i].latency_ns.Record(k);
    for (int k = 1; k <= (i % 2 == 0 ? 80 : 100); ++k) {
      uneven[i].latency_ns.Record(k);
    }
    all.Merge(even[i]);
  }
  const QuantileInterval by_even =
      IntervalOfQuantile(all, even, 0.92, kConfidence);
  const QuantileInterval by_uneven =
      IntervalOfQuantile(all, uneven, 0.92, kConfidence);
  EXPECT_EQ(by_even.lower, Outcomes::kFailed);
  EXPECT_THAT(by_uneven.lower, testing::Optional(testing::Lt(90)));
  EXPECT_EQ(by_uneven.upper, Outcomes::kFailed);
}

// The share of runs whose interval misses the true quantile.
double MissRate(int runs, double truth,
                const std::function<QuantileInterval()>& run) {
  int misses = 0;
  for (int i = 0; i < runs; ++i) {
    const QuantileInterval interval = run();
    // The resolution of histograms is 1/128.
    const double slack = truth / 128;
    if (interval.lower.value_or(0) > truth + slack ||
        interval.upper.value_or(LogHistogram::kMaxValue) < truth - slack) {
      ++misses;
    }
  }
  return static_cast<double>(misses) / runs;
}

// Exponential with mean 1 ms: quantile q is -ln(1 - q) ms.
constexpr double kMeanNs = 1e6;

TEST(CoverageTest, IndependentValuesByOrderStatistics) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> latency(1 / kMeanNs);
  for (const double quantile : {0.5, 0.9, 0.99}) {
    const double truth = -std::log(1 - quantile) * kMeanNs;
    const double miss_rate = MissRate(2000, truth, [&] {
      Outcomes all;
      for (int i = 0; i < 2000; ++i)
        all.latency_ns.Record(std::llround(latency(random)));
      return IntervalOfQuantile(all, {}, quantile, kConfidence);
    });
    // The nominal rate is 5 %; 3 standard errors of 2000 runs are 1.5 %.
    EXPECT_LT(miss_rate, 0.065) << quantile;
    EXPECT_GT(miss_rate, 0.01) << quantile;
  }
}

// Latencies exp(x) where x follows a first-order autoregression: slow moments
// last. Its stationary distribution is standard normal.
class DependentLatencies {
 public:
  explicit DependentLatencies(double correlation)
      : correlation_(correlation),
        noise_(0, std::sqrt(1 - correlation * correlation)) {}

  int64_t Next() {
    state_ = correlation_ * state_ + noise_(random_);
    return std::llround(std::exp(state_) * kMeanNs);
  }

 private:
  const double correlation_;
  std::mt19937_64 random_{7};
  std::normal_distribution<double> noise_;
  double state_ = 0;
};

TEST(CoverageTest, DependentValuesNeedBlocks) {
  constexpr int kRuns = 500;
  constexpr int kSeconds = 30;
  constexpr int kPerSecond = 400;
  const double truth = kMeanNs;  // the median
  DependentLatencies latencies(0.95);
  const auto run = [&](bool with_blocks) {
    Outcomes all;
    std::vector<Outcomes> seconds(kSeconds);
    for (Outcomes& second : seconds) {
      for (int i = 0; i < kPerSecond; ++i)
        second.latency_ns.Record(latencies.Next());
      all.Merge(second);
    }
    const std::vector<Outcomes> blocks = MakeBlocks(Views(seconds));
    return IntervalOfQuantile(
        all, with_blocks ? blocks : std::vector<Outcomes>(), 0.5, kConfidence);
  };
  const double with_blocks = MissRate(kRuns, truth, [&] { return run(true); });
  const double without = MissRate(kRuns, truth, [&] { return run(false); });
  // 3 standard errors of 500 runs are 2.9 %.
  EXPECT_LT(with_blocks, 0.08);
  // The rate if the values are taken for independent.
  EXPECT_GT(without, 0.4);
}

TEST(CoverageTest, BlocksDoNotNarrowTheIntervalOfATail) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> latency(1 / kMeanNs);
  const double quantile = 0.999;
  const double miss_rate =
      MissRate(500, -std::log(1 - quantile) * kMeanNs, [&] {
        Outcomes all;
        std::vector<Outcomes> seconds(kMinBlocks);
        for (Outcomes& second : seconds) {
          for (int i = 0; i < 1000; ++i) {
            second.latency_ns.Record(std::llround(latency(random)));
          }
          all.Merge(second);
        }
        return IntervalOfQuantile(all, MakeBlocks(Views(seconds)), quantile,
                                  kConfidence);
      });
  EXPECT_LT(miss_rate, 0.08);
}

TEST(IntervalOfQuantileTest, ContainsTheEstimateAndSaysHow) {
  std::vector<Outcomes> seconds(kMinBlocks);
  Outcomes all;
  for (int i = 0; i < kMinBlocks; ++i) {
    for (int j = 0; j < 1000; ++j) seconds[i].latency_ns.Record(1000 * i + j);
    all.Merge(seconds[i]);
  }
  const std::vector<Outcomes> blocks = MakeBlocks(Views(seconds));
  const QuantileInterval narrow = IntervalOfQuantile(all, {}, 0.5, kConfidence);
  const QuantileInterval wide =
      IntervalOfQuantile(all, blocks, 0.5, kConfidence);
  EXPECT_EQ(narrow.method, QuantileInterval::Method::kOrderStatistics);
  EXPECT_EQ(wide.method, QuantileInterval::Method::kBlocks);
  // Each second is slower than the one before, so nothing is known about the
  // median: a bound that is absent is as wide as can be.
  EXPECT_LT(wide.lower.value_or(0), *narrow.lower);
  EXPECT_GT(wide.upper.value_or(INT64_MAX), *narrow.upper);
  EXPECT_LE(*narrow.lower, all.ValueAtQuantile(0.5));
  EXPECT_GE(*narrow.upper, all.ValueAtQuantile(0.5));
}

}  // namespace
}  // namespace distbench::stats
