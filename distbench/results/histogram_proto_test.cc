// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/histogram_proto.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

stats::LogHistogram HistogramOf(const std::vector<int64_t>& values) {
  stats::LogHistogram histogram;
  for (int64_t value : values) {
    histogram.Record(value);
  }
  return histogram;
}

Histogram Encoded(const stats::LogHistogram& histogram) {
  Histogram proto;
  EncodeHistogram(histogram, proto);
  return proto;
}

TEST(HistogramProtoTest, EncodesDistancesBetweenBuckets) {
  // 1000 is in octave 3, of [512, 1024) with buckets of width 4.
  const Histogram proto = Encoded(HistogramOf({3, 3, 10, 1'000}));
  EXPECT_EQ(proto.sub_bucket_bits(), 7);
  EXPECT_THAT(proto.bucket_index_deltas(),
              ElementsAre(3, 7, 3 * 128 + (1'000 - 512) / 4 - 10));
  EXPECT_THAT(proto.bucket_counts(), ElementsAre(2, 1, 1));
  EXPECT_FALSE(proto.has_overflow_count());
  EXPECT_EQ(proto.min(), 3);
  EXPECT_EQ(proto.max(), 1'000);
  EXPECT_EQ(proto.sum(), 1'016);
  EXPECT_EQ(proto.sum_of_squares(), 9 + 9 + 100 + 1'000'000);
}

TEST(HistogramProtoTest, EmptyHistogramHasNoExtremes) {
  Histogram proto = Encoded(HistogramOf({1}));
  EncodeHistogram(stats::LogHistogram(), proto);
  EXPECT_THAT(proto.bucket_counts(), ElementsAre());
  EXPECT_FALSE(proto.has_min());
  EXPECT_FALSE(proto.has_max());

  stats::LogHistogram decoded;
  EXPECT_TRUE(AddHistogram(proto, decoded).ok());
  EXPECT_EQ(decoded.count(), 0);
}

class RoundTripTest : public testing::TestWithParam<std::vector<int64_t>> {};

TEST_P(RoundTripTest, DecodesWhatWasEncoded) {
  const Histogram proto = Encoded(HistogramOf(GetParam()));
  stats::LogHistogram decoded;
  const absl::Status status = AddHistogram(proto, decoded);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Encoded(decoded).SerializeAsString(), proto.SerializeAsString());
  EXPECT_EQ(decoded.count(), GetParam().size());
}

std::vector<int64_t> ManyValues() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(0, 52);
  std::vector<int64_t> values;
  for (int i = 0; i < 50'000; ++i) {
    values.push_back(static_cast<int64_t>(std::exp2(exponent(random))));
  }
  return values;
}

INSTANTIATE_TEST_SUITE_P(
    Values, RoundTripTest,
    testing::Values(std::vector<int64_t>{0}, std::vector<int64_t>{0, 0, 127},
                    std::vector<int64_t>{stats::LogHistogram::kMaxValue},
                    std::vector<int64_t>{stats::LogHistogram::kMaxValue + 1},
                    std::vector<int64_t>{7,
                                         std::numeric_limits<int64_t>::max()},
                    ManyValues()));

TEST(HistogramProtoTest, AddingIsMerging) {
  stats::LogHistogram histogram = HistogramOf({5, 500, 50'000});
  ASSERT_TRUE(
      AddHistogram(Encoded(HistogramOf({1, 500, 9'000'000})), histogram).ok());
  EXPECT_EQ(Encoded(histogram).SerializeAsString(),
            Encoded(HistogramOf({5, 500, 50'000, 1, 500, 9'000'000}))
                .SerializeAsString());
}

struct BadHistogram {
  std::string name;
  std::string text;
  std::string expected_error;
};

class BadHistogramTest : public testing::TestWithParam<BadHistogram> {};

TEST_P(BadHistogramTest, IsRefusedWithAReason) {
  stats::LogHistogram histogram = HistogramOf({42});
  const absl::Status status =
      AddHistogram(base::FromText<Histogram>(GetParam().text), histogram);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(GetParam().expected_error));
  EXPECT_EQ(Encoded(histogram).SerializeAsString(),
            Encoded(HistogramOf({42})).SerializeAsString());
}

INSTANTIATE_TEST_SUITE_P(
    All, BadHistogramTest,
    testing::Values(
        BadHistogram{"NoResolution", "", "sub_bucket_bits 0"},
        BadHistogram{"OtherResolution", "sub_bucket_bits: 5",
                     "sub_bucket_bits 5; this version of distbench reads 7"},
        BadHistogram{"MoreCountsThanBuckets",
                     "sub_bucket_bits: 7 bucket_index_deltas: 1 "
                     "bucket_counts: 1 bucket_counts: 2 min: 1 max: 1",
                     "1 bucket indices for 2 counts"},
        BadHistogram{"BeyondTheLastBucket",
                     "sub_bucket_bits: 7 bucket_index_deltas: 5376 "
                     "bucket_counts: 1 min: 1 max: 1",
                     "has a bucket 5376"},
        BadHistogram{"IndicesThatWrapAround",
                     "sub_bucket_bits: 7 bucket_index_deltas: 4294967295 "
                     "bucket_index_deltas: 2 bucket_counts: 1 "
                     "bucket_counts: 1 min: 1 max: 1",
                     "has a bucket 4294967295"},
        BadHistogram{"RepeatedBucket",
                     "sub_bucket_bits: 7 bucket_index_deltas: 4 "
                     "bucket_index_deltas: 0 bucket_counts: 1 "
                     "bucket_counts: 1 min: 4 max: 4",
                     "bucket 4 twice"},
        BadHistogram{"EmptyBucket",
                     "sub_bucket_bits: 7 bucket_index_deltas: 4 "
                     "bucket_counts: 0 min: 4 max: 4",
                     "empty bucket 4"},
        BadHistogram{"CountsThatWrapAround",
                     "sub_bucket_bits: 7 bucket_index_deltas: 4 "
                     "bucket_index_deltas: 1 "
                     "bucket_counts: 18446744073709551615 bucket_counts: 5 "
                     "min: 4 max: 5",
                     "more than 2^63"},
        BadHistogram{"HugeOverflow",
                     "sub_bucket_bits: 7 overflow_count: 9223372036854775808 "
                     "min: 281474976710656 max: 281474976710656",
                     "more than 2^63"},
        BadHistogram{"ExtremesMissing",
                     "sub_bucket_bits: 7 bucket_index_deltas: 0 "
                     "bucket_counts: 1",
                     "contradict"},
        BadHistogram{"MinOutsideFirstBucket",
                     "sub_bucket_bits: 7 bucket_index_deltas: 4 "
                     "bucket_counts: 1 min: 3 max: 4",
                     "min of 3"},
        BadHistogram{"MaxOutsideLastBucket",
                     "sub_bucket_bits: 7 bucket_index_deltas: 4 "
                     "bucket_counts: 1 min: 4 max: 5",
                     "max of 5"},
        BadHistogram{"OverflowWithoutSuchAMax",
                     "sub_bucket_bits: 7 bucket_index_deltas: 4 "
                     "bucket_counts: 1 overflow_count: 1 min: 4 max: 4",
                     "max of 4"},
        BadHistogram{"NegativeMin",
                     "sub_bucket_bits: 7 bucket_index_deltas: 4 "
                     "bucket_counts: 1 min: -4 max: 4",
                     "min of -4"},
        BadHistogram{"ExtremesOfNothing", "sub_bucket_bits: 7 min: 1 max: 2",
                     "contradict"},
        BadHistogram{"SumThatIsNoNumber",
                     "sub_bucket_bits: 7 bucket_index_deltas: 4 "
                     "bucket_counts: 1 min: 4 max: 4 sum: nan",
                     "finite"},
        BadHistogram{"NegativeSquares",
                     "sub_bucket_bits: 7 bucket_index_deltas: 4 "
                     "bucket_counts: 1 min: 4 max: 4 sum_of_squares: -1",
                     "at least 0"}),
    [](const auto& info) { return info.param.name; });

// Any bytes may arrive: nothing crashes, and whatever is accepted is
// consistent.
TEST(HistogramProtoTest, SurvivesRandomDamage) {
  std::mt19937_64 random(2);
  const std::string intact =
      Encoded(HistogramOf({3, 70, 900, 12'345'678})).SerializeAsString();
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = intact;
    for (int change = 0; change < 3; ++change) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    Histogram proto;
    stats::LogHistogram histogram;
    if (!proto.ParseFromString(damaged) ||
        !AddHistogram(proto, histogram).ok() || histogram.count() == 0) {
      continue;
    }
    const int64_t median = histogram.ValueAtQuantile(0.5);
    ASSERT_LE(histogram.min(), median);
    ASSERT_LE(median, histogram.max());
  }
}

}  // namespace
}  // namespace distbench::results
