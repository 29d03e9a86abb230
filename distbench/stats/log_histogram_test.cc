// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/log_histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void ExpectEqual(const RunningMoments& a, const RunningMoments& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.sum_of_squares, b.sum_of_squares);
}

RunningMoments Of(const std::vector<int64_t>& values) {
  RunningMoments moments;
  moments.RecordEach(values, [](int64_t value) { return value; });
  return moments;
}

TEST(RunningMomentsTest, AreThoseOfAHistogram) {
  LogHistogram histogram;
  for (const int64_t value : {70, -3, 5'000, 70}) histogram.Record(value);
  ExpectEqual(RunningMoments(histogram), Of({70, -3, 5'000, 70}));
  ExpectEqual(RunningMoments(LogHistogram()), RunningMoments());
}

TEST(RunningMomentsTest, AddUp) {
  RunningMoments moments = Of({7, 9});
  moments.Merge(Of({1'000, 8}));
  ExpectEqual(moments, Of({7, 9, 1'000, 8}));
  moments.Merge(RunningMoments());
  ExpectEqual(moments, Of({7, 9, 1'000, 8}));
}

// Makes buckets comparable and printable.
std::vector<std::tuple<int, uint64_t>> Counts(const LogHistogram& histogram) {
  std::vector<std::tuple<int, uint64_t>> counts;
  for (const LogHistogram::Bucket& bucket : histogram.Buckets()) {
    counts.emplace_back(bucket.index, bucket.count);
  }
  return counts;
}

void ExpectEqual(const LogHistogram& a, const LogHistogram& b) {
  EXPECT_EQ(Counts(a), Counts(b));
  EXPECT_EQ(a.count(), b.count());
  EXPECT_EQ(a.overflow_count(), b.overflow_count());
  EXPECT_EQ(a.min(), b.min());
  EXPECT_EQ(a.max(), b.max());
  // Only the order of additions differs.
  EXPECT_NEAR(a.sum(), b.sum(), 1e-12 * b.sum());
  EXPECT_NEAR(a.sum_of_squares(), b.sum_of_squares(),
              1e-12 * b.sum_of_squares());
}

LogHistogram HistogramOf(const std::vector<int64_t>& values) {
  LogHistogram histogram;
  for (int64_t value : values) {
    histogram.Record(value);
  }
  return histogram;
}

// Values of all magnitudes up to 2^bits, spread evenly over the octaves.
std::vector<int64_t> RandomValues(int count, int bits, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(0, bits);
  std::vector<int64_t> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<int64_t>(std::exp2(exponent(random))));
  }
  return values;
}

TEST(LogHistogramTest, EveryBucketHoldsExactlyItsBounds) {
  int64_t next_lower = 0;
  for (int index = 0; index < LogHistogram::kBucketCount; ++index) {
    const int64_t lower = LogHistogram::BucketLower(index);
    const int64_t upper = LogHistogram::BucketUpper(index);
    ASSERT_EQ(lower, next_lower) << "a gap or overlap before bucket " << index;
    ASSERT_LE(lower, upper);
    ASSERT_EQ(LogHistogram::BucketIndex(lower), index);
    ASSERT_EQ(LogHistogram::BucketIndex(upper), index);
    // The width is less than 1/128 of any value in the bucket.
    ASSERT_LT((upper - lower) * 128, std::max<int64_t>(lower, 1));
    next_lower = upper + 1;
  }
  EXPECT_EQ(next_lower - 1, LogHistogram::kMaxValue);
}

TEST(LogHistogramTest, RecordsManyAsOneByOne) {
  std::vector<int64_t> values = RandomValues(1000, 60, /*seed=*/3);
  values.insert(values.end(),
                {0, -5, LogHistogram::kMaxValue, LogHistogram::kMaxValue + 1});
  LogHistogram one_by_one = HistogramOf({7});
  for (int64_t value : values) one_by_one.Record(value);
  LogHistogram many = HistogramOf({7});
  many.RecordEach(values, [](int64_t value) { return value; });
  many.RecordEach(std::vector<int64_t>(), [](int64_t value) { return value; });
  ExpectEqual(many, one_by_one);
  EXPECT_EQ(many.sum(), one_by_one.sum());
  EXPECT_EQ(many.sum_of_squares(), one_by_one.sum_of_squares());
}

TEST(LogHistogramTest, IsEmptyAtFirst) {
  const LogHistogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.overflow_count(), 0);
  EXPECT_EQ(histogram.sum(), 0);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.CountAtMost(std::numeric_limits<int64_t>::max()), 0);
  EXPECT_THAT(histogram.Buckets(), IsEmpty());
}

TEST(LogHistogramTest, SmallValuesAreExact) {
  const LogHistogram histogram = HistogramOf({0, 1, 1, 2, 100, 127});
  EXPECT_EQ(histogram.count(), 6);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 127);
  EXPECT_EQ(histogram.sum(), 231);
  EXPECT_EQ(histogram.sum_of_squares(), 0 + 1 + 1 + 4 + 10000 + 16129);
  EXPECT_DOUBLE_EQ(histogram.mean(), 231 / 6.0);
  EXPECT_THAT(Counts(histogram),
              ElementsAre(std::tuple(0, 1), std::tuple(1, 2), std::tuple(2, 1),
                          std::tuple(100, 1), std::tuple(127, 1)));
  EXPECT_EQ(histogram.ValueAtQuantile(0), 0);
  EXPECT_EQ(histogram.ValueAtQuantile(0.5), 2);
  EXPECT_EQ(histogram.ValueAtQuantile(0.7), 100);
  EXPECT_EQ(histogram.ValueAtQuantile(1), 127);
}

TEST(LogHistogramTest, NegativeValuesAreZero) {
  const LogHistogram histogram =
      HistogramOf({-1, std::numeric_limits<int64_t>::min()});
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.sum(), 0);
  EXPECT_THAT(Counts(histogram), ElementsAre(std::tuple(0, 2)));
}

TEST(LogHistogramTest, LargeValuesOverflowButAreCounted) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const LogHistogram histogram = HistogramOf(
      {5, LogHistogram::kMaxValue, LogHistogram::kMaxValue + 1, kLargest});
  EXPECT_EQ(histogram.count(), 4);
  EXPECT_EQ(histogram.overflow_count(), 2);
  EXPECT_EQ(histogram.max(), kLargest);
  EXPECT_THAT(Counts(histogram),
              ElementsAre(std::tuple(5, 1),
                          std::tuple(LogHistogram::kBucketCount - 1, 1)));
  EXPECT_EQ(histogram.ValueAtQuantile(0.5), kLargest);
  EXPECT_EQ(histogram.CountAtMost(LogHistogram::kMaxValue), 2);
  EXPECT_EQ(histogram.CountAtMost(kLargest - 1), 2);
  EXPECT_EQ(histogram.CountAtMost(kLargest), 4);
}

TEST(LogHistogramTest, FirstAndLastPositionAreExact) {
  const LogHistogram histogram = HistogramOf({1'000'003, 2'000'003, 3'000'003});
  EXPECT_EQ(histogram.ValueAtQuantile(0.33), 1'000'003);
  EXPECT_EQ(histogram.ValueAtQuantile(0.67), 3'000'003);
}

TEST(LogHistogramTest, OneValueIsAllQuantiles) {
  const LogHistogram histogram = HistogramOf({123'456'789});
  for (double quantile : {0.0, 0.5, 0.999, 1.0}) {
    EXPECT_EQ(histogram.ValueAtQuantile(quantile), 123'456'789);
  }
}

TEST(LogHistogramTest, QuantilesStayBetweenTheExtremes) {
  // All are in one bucket, whose middle is above them.
  const int64_t lower = LogHistogram::BucketLower(3000);
  const LogHistogram histogram = HistogramOf({lower, lower + 1, lower + 2});
  EXPECT_EQ(histogram.ValueAtQuantile(0.5), lower + 2);
}

class QuantileTest : public testing::TestWithParam<int> {};

TEST_P(QuantileTest, MatchesSortedValues) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    std::vector<int64_t> values = RandomValues(20'000, GetParam(), seed);
    const LogHistogram histogram = HistogramOf(values);
    std::sort(values.begin(), values.end());
    for (int i = 0; i <= 10'000; ++i) {
      const double quantile = i / 10'000.0;
      const size_t position = std::min(
          values.size() - 1, static_cast<size_t>(values.size() * quantile));
      const double expected = values[position];
      ASSERT_LE(std::abs(histogram.ValueAtQuantile(quantile) - expected),
                expected / 256)
          << "quantile " << quantile << " seed " << seed;
    }
  }
}

TEST_P(QuantileTest, CountAtMostMatchesSortedValues) {
  std::vector<int64_t> values = RandomValues(20'000, GetParam(), 7);
  const LogHistogram histogram = HistogramOf(values);
  std::sort(values.begin(), values.end());
  for (int64_t value : RandomValues(1'000, GetParam(), 8)) {
    const int64_t bucket_end =
        LogHistogram::BucketUpper(LogHistogram::BucketIndex(value));
    const auto end = std::upper_bound(values.begin(), values.end(), bucket_end);
    ASSERT_EQ(histogram.CountAtMost(value), end - values.begin());
  }
  EXPECT_EQ(histogram.CountAtMost(-1), 0);
}

TEST_P(QuantileTest, MergingIsRecordingTheUnion) {
  const std::vector<int64_t> first = RandomValues(5'000, GetParam(), 1);
  const std::vector<int64_t> second = RandomValues(3'000, GetParam() + 2, 2);
  std::vector<int64_t> both = first;
  both.insert(both.end(), second.begin(), second.end());

  LogHistogram merged = HistogramOf(first);
  merged.Merge(HistogramOf(second));
  ExpectEqual(merged, HistogramOf(both));

  LogHistogram reversed = HistogramOf(second);
  reversed.Merge(HistogramOf(first));
  ExpectEqual(reversed, merged);
}

// From exact buckets to values that overflow.
INSTANTIATE_TEST_SUITE_P(Bits, QuantileTest, testing::Values(6, 8, 20, 33, 47));

TEST(LogHistogramTest, MergingAnEmptyOneChangesNothing) {
  LogHistogram histogram = HistogramOf({3, 300, 30'000});
  const LogHistogram before = histogram;
  histogram.Merge(LogHistogram());
  ExpectEqual(histogram, before);

  LogHistogram empty;
  empty.Merge(before);
  ExpectEqual(empty, before);
}

TEST(LogHistogramTest, CopiesAreIndependent) {
  const LogHistogram original = HistogramOf({10, 1'000});
  LogHistogram copy = original;
  copy.Record(10);
  EXPECT_EQ(copy.count(), 3);
  EXPECT_EQ(original.count(), 2);
  EXPECT_EQ(original.CountAtMost(10), 1);

  copy = original;
  ExpectEqual(copy, original);
  const LogHistogram& alias = copy;
  copy = alias;
  ExpectEqual(copy, original);
}

TEST(LogHistogramTest, RecordNIsRecordNTimes) {
  LogHistogram at_once;
  at_once.RecordN(5'000, 3);
  at_once.RecordN(1, 0);
  ExpectEqual(at_once, HistogramOf({5'000, 5'000, 5'000}));
}

TEST(LogHistogramTest, IsPutTogetherFromItsParts) {
  std::vector<int64_t> values = RandomValues(10'000, 50, 3);
  const LogHistogram original = HistogramOf(values);
  ASSERT_GT(original.overflow_count(), 0);

  LogHistogram rebuilt;
  for (const LogHistogram::Bucket& bucket : original.Buckets()) {
    rebuilt.AddToBucket(bucket.index, bucket.count);
  }
  rebuilt.AddOverflow(original.overflow_count());
  rebuilt.AddMoments(original.min(), original.max(), original.sum(),
                     original.sum_of_squares());
  ExpectEqual(rebuilt, original);
}

TEST(LogHistogramTest, ClearedIsAsNew) {
  LogHistogram histogram;
  histogram.Record(1000);
  histogram.Record(LogHistogram::kMaxValue + 1);
  histogram.Clear();
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.overflow_count(), 0u);
  EXPECT_EQ(histogram.sum(), 0);
  EXPECT_THAT(histogram.Buckets(), testing::IsEmpty());
  histogram.Record(7);
  EXPECT_EQ(histogram.min(), 7);
  EXPECT_EQ(histogram.max(), 7);
}

TEST(LogHistogramTest, CountsWhatItAllocates) {
  int64_t allocated_bytes = 0;
  LogHistogram histogram;
  histogram = LogHistogram(&allocated_bytes);
  EXPECT_EQ(allocated_bytes, 0);
  histogram.Record(1);
  histogram.Record(1);
  histogram.Record(1'000'000);
  EXPECT_EQ(allocated_bytes, 2 * 1024);
  EXPECT_EQ(histogram.allocated_bytes(), 2 * 1024);
  LogHistogram copy(histogram);
  copy.Record(5'000);
  EXPECT_EQ(allocated_bytes, 2 * 1024);
  EXPECT_EQ(copy.allocated_bytes(), 3 * 1024);
}

}  // namespace
}  // namespace distbench::stats
