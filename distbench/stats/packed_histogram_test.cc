// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/packed_histogram.h"

#include <cstdint>
#include <random>

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

void ExpectSameHistogram(const LogHistogram& a, const LogHistogram& b) {
  ASSERT_EQ(a.count(), b.count());
  EXPECT_EQ(a.overflow_count(), b.overflow_count());
  EXPECT_EQ(a.min(), b.min());
  EXPECT_EQ(a.max(), b.max());
  EXPECT_EQ(a.sum(), b.sum());
  EXPECT_EQ(a.sum_of_squares(), b.sum_of_squares());
  const auto buckets_a = a.Buckets();
  const auto buckets_b = b.Buckets();
  ASSERT_EQ(buckets_a.size(), buckets_b.size());
  for (size_t i = 0; i < buckets_a.size(); ++i) {
    EXPECT_EQ(buckets_a[i].index, buckets_b[i].index);
    EXPECT_EQ(buckets_a[i].count, buckets_b[i].count);
  }
}

TEST(PackedHistogramTest, KeepsEverything) {
  std::mt19937_64 random(1);
  LogHistogram histogram;
  for (int i = 0; i < 10'000; ++i) {
    histogram.Record(static_cast<int64_t>(random() >> (random() % 50 + 14)));
  }
  histogram.RecordN(12'345, uint64_t{1} << 40);
  histogram.Record(LogHistogram::kMaxValue + 1);
  LogHistogram unpacked;
  PackedHistogram(histogram).AddTo(unpacked);
  ExpectSameHistogram(unpacked, histogram);
}

TEST(PackedHistogramTest, AddsToWhatIsThere) {
  LogHistogram first;
  LogHistogram second;
  LogHistogram both;
  for (int64_t value : {0, 1, 127, 128, 5000}) {
    first.Record(value);
    both.Record(value);
  }
  for (int64_t value : {128, 1'000'000}) {
    second.Record(value);
    both.Record(value);
  }
  PackedHistogram(second).AddTo(first);
  ExpectSameHistogram(first, both);
}

TEST(PackedHistogramTest, MergesAsHistogramsDo) {
  std::mt19937_64 random(2);
  const auto record_some = [&random](LogHistogram& histogram) {
    for (int i = 0; i < 100; ++i) {
      histogram.Record(static_cast<int64_t>(random() >> (random() % 50 + 14)));
    }
    histogram.Record(LogHistogram::kMaxValue + 1);
  };
  LogHistogram sum;
  PackedHistogram packed;
  for (int i = 0; i < 20; ++i) {
    LogHistogram part;
    record_some(part);
    sum.Merge(part);
    packed.Merge(PackedHistogram(part));
    packed.Merge(PackedHistogram());
  }
  LogHistogram unpacked;
  packed.AddTo(unpacked);
  ExpectSameHistogram(unpacked, sum);
}

TEST(PackedHistogramTest, TellsWhatItAllocates) {
  EXPECT_EQ(PackedHistogram().allocated_bytes(), 0);
  LogHistogram histogram;
  histogram.Record(1);
  EXPECT_EQ(PackedHistogram(histogram).allocated_bytes(), 0);
  for (int i = 0; i < 100; ++i) histogram.Record(i);
  EXPECT_GE(PackedHistogram(histogram).allocated_bytes(), 200);
  EXPECT_LE(PackedHistogram(histogram).allocated_bytes(), 300);
}

TEST(PackedHistogramTest, OfNothingIsEmpty) {
  EXPECT_TRUE(PackedHistogram().empty());
  EXPECT_TRUE(PackedHistogram(LogHistogram()).empty());
  LogHistogram only_overflow;
  only_overflow.Record(LogHistogram::kMaxValue + 1);
  EXPECT_FALSE(PackedHistogram(only_overflow).empty());
  LogHistogram histogram;
  PackedHistogram().AddTo(histogram);
  EXPECT_EQ(histogram.count(), 0u);
}

}  // namespace
}  // namespace distbench::stats
