#include "distbench/stats/quantile_interval.h"

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

constexpr double kConfidence = 0.95;

std::vector<const LogHistogram*> Pointers(
    const std::vector<LogHistogram>& histograms) {
  std::vector<const LogHistogram*> pointers;
  for (const LogHistogram& histogram : histograms) {
    pointers.push_back(&histogram);
  }
  return pointers;
}

TEST(OrderStatisticRanksTest, KnownCases) {
  // Of 6 values, the extremes hold the median with 1 - 2 / 2^6 = 96.9 %; of 5
  // no two values do.
  EXPECT_EQ(OrderStatisticRanks(6, 0.5, kConfidence).lower, 1);
  EXPECT_EQ(OrderStatisticRanks(6, 0.5, kConfidence).upper, 6);
  EXPECT_EQ(OrderStatisticRanks(5, 0.5, kConfidence).lower, 0);
  EXPECT_EQ(OrderStatisticRanks(5, 0.5, kConfidence).upper, 6);
  // The usual table for the median of 100.
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
  std::vector<LogHistogram> parts(kMinBlocks);
  for (LogHistogram& part : parts) part.Record(5);
  EXPECT_EQ(MakeBlocks(Pointers(parts)).size(), kMinBlocks);
  parts[3] = LogHistogram();
  EXPECT_EQ(MakeBlocks(Pointers(parts)).size(), 0);
}

TEST(MakeBlocksTest, ManyPartsArePutTogetherInOrder) {
  std::vector<LogHistogram> parts(2 * kMaxBlocks);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].Record(i);
  const std::vector<LogHistogram> blocks = MakeBlocks(Pointers(parts));
  ASSERT_EQ(blocks.size(), kMaxBlocks);
  for (int i = 0; i < kMaxBlocks; ++i) {
    EXPECT_EQ(blocks[i].count(), 2);
    EXPECT_EQ(blocks[i].min(), 2 * i);
    EXPECT_EQ(blocks[i].max(), 2 * i + 1);
  }
}

TEST(IntervalOfQuantileTest, TooFewValuesHaveNoUpperBound) {
  LogHistogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.Record(i);
  const QuantileInterval p99 =
      IntervalOfQuantile(histogram, {}, 0.99, kConfidence);
  EXPECT_EQ(p99.lower, 97);
  EXPECT_EQ(p99.upper, std::nullopt);
  EXPECT_EQ(IntervalOfQuantile(LogHistogram(), {}, 0.5, kConfidence).lower,
            std::nullopt);
}

// The share of runs whose interval misses the true quantile.
double MissRate(int runs, double truth, double quantile,
                const std::function<QuantileInterval()>& run) {
  int misses = 0;
  for (int i = 0; i < runs; ++i) {
    const QuantileInterval interval = run();
    // Histograms know values to 1/128.
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
    const double miss_rate = MissRate(2000, truth, quantile, [&] {
      LogHistogram all;
      for (int i = 0; i < 2000; ++i) all.Record(std::llround(latency(random)));
      return IntervalOfQuantile(all, {}, quantile, kConfidence);
    });
    // 5 % promised; 3 standard errors of 2000 runs are 1.5 %.
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
    LogHistogram all;
    std::vector<LogHistogram> seconds(kSeconds);
    for (LogHistogram& second : seconds) {
      for (int i = 0; i < kPerSecond; ++i) second.Record(latencies.Next());
      all.Merge(second);
    }
    const std::vector<LogHistogram> blocks = MakeBlocks(Pointers(seconds));
    return IntervalOfQuantile(
        all, with_blocks ? blocks : std::vector<LogHistogram>(), 0.5,
        kConfidence);
  };
  const double with_blocks =
      MissRate(kRuns, truth, 0.5, [&] { return run(true); });
  const double without =
      MissRate(kRuns, truth, 0.5, [&] { return run(false); });
  // 3 standard errors of 500 runs are 2.9 %.
  EXPECT_LT(with_blocks, 0.08);
  // What taking them for independent would do.
  EXPECT_GT(without, 0.4);
}

TEST(CoverageTest, BlocksDoNotNarrowTheIntervalOfATail) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> latency(1 / kMeanNs);
  const double quantile = 0.999;
  const double miss_rate =
      MissRate(500, -std::log(1 - quantile) * kMeanNs, quantile, [&] {
        LogHistogram all;
        std::vector<LogHistogram> seconds(kMinBlocks);
        for (LogHistogram& second : seconds) {
          for (int i = 0; i < 1000; ++i) {
            second.Record(std::llround(latency(random)));
          }
          all.Merge(second);
        }
        return IntervalOfQuantile(all, MakeBlocks(Pointers(seconds)), quantile,
                                  kConfidence);
      });
  EXPECT_LT(miss_rate, 0.08);
}

TEST(IntervalOfQuantileTest, ContainsTheEstimateAndSaysHow) {
  std::vector<LogHistogram> seconds(kMinBlocks);
  LogHistogram all;
  for (int i = 0; i < kMinBlocks; ++i) {
    for (int j = 0; j < 1000; ++j) seconds[i].Record(1000 * i + j);
    all.Merge(seconds[i]);
  }
  const std::vector<LogHistogram> blocks = MakeBlocks(Pointers(seconds));
  const QuantileInterval narrow = IntervalOfQuantile(all, {}, 0.5, kConfidence);
  const QuantileInterval wide =
      IntervalOfQuantile(all, blocks, 0.5, kConfidence);
  EXPECT_EQ(narrow.method, QuantileInterval::Method::kOrderStatistics);
  EXPECT_EQ(wide.method, QuantileInterval::Method::kBlocks);
  // Each second is slower than the one before: nothing is known of the median.
  EXPECT_LT(*wide.lower, *narrow.lower);
  EXPECT_GT(*wide.upper, *narrow.upper);
  EXPECT_LE(*narrow.lower, all.ValueAtQuantile(0.5));
  EXPECT_GE(*narrow.upper, all.ValueAtQuantile(0.5));
}

}  // namespace
}  // namespace distbench
