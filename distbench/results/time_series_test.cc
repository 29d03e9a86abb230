// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/time_series.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

Histogram Of(const std::vector<int64_t>& values) {
  stats::LogHistogram histogram;
  for (int64_t value : values) histogram.Record(value);
  Histogram proto;
  EncodeHistogram(histogram, proto);
  return proto;
}

// One RPC succeeded in each interval.
RpcTimeSeries Series(const std::vector<int64_t>& indices) {
  RpcTimeSeries series;
  series.set_interval_ns(kSecond);
  for (int64_t index : indices) {
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(index);
    interval.set_succeeded_count(1);
    *interval.mutable_service_time_ns() = Of({index});
  }
  return series;
}

std::vector<int64_t> Indices(const RpcTimeSeries& series) {
  std::vector<int64_t> indices;
  for (const RpcInterval& interval : series.intervals()) {
    indices.push_back(interval.index());
  }
  return indices;
}

TEST(TimeSeriesTest, IntervalsAreEncodedAsTheyAre) {
  stats::IntervalSeries series;
  stats::IntervalCounts& counts = series.At(9);
  counts = {.offered = 1,
            .sent = 2,
            .succeeded = 3,
            .failed = 4,
            .warmup = 5,
            .request_bytes = 6,
            .response_bytes = 7};
  series.ServiceTimes(9).Record(1000);
  series.ResponseTimes(9).Record(2000);
  RpcInterval proto;
  EncodeTimeSeries({&series}, [&](const RpcTimeSeries& piece) {
    ASSERT_EQ(piece.intervals_size(), 1);
    proto = piece.intervals(0);
  });
  EXPECT_EQ(proto.index(), 9);
  EXPECT_EQ(proto.offered_count(), 1);
  EXPECT_EQ(proto.sent_count(), 2);
  EXPECT_EQ(proto.succeeded_count(), 3);
  EXPECT_EQ(proto.failed_count(), 4);
  EXPECT_EQ(proto.warmup_count(), 5);
  EXPECT_EQ(proto.request_bytes(), 6);
  EXPECT_EQ(proto.response_bytes(), 7);
  EXPECT_EQ(proto.service_time_ns().max(), 1000);
  EXPECT_EQ(proto.response_time_ns().max(), 2000);
}

TEST(TimeSeriesTest, MergedSeriesAreInOrder) {
  RpcTimeSeries into = Series({2, 4, 6});
  ASSERT_TRUE(MergeTimeSeries(Series({1, 4, 5, 9}), into).ok());
  EXPECT_THAT(Indices(into), ElementsAre(1, 2, 4, 5, 6, 9));
  EXPECT_EQ(into.intervals(2).succeeded_count(), 2);
  EXPECT_EQ(into.intervals(2).service_time_ns().sum(), 8);
  EXPECT_EQ(into.intervals(3).succeeded_count(), 1);
}

TEST(TimeSeriesTest, PiecesMayComeInAnyOrder) {
  RpcTimeSeries into;
  for (const std::vector<int64_t>& piece : std::vector<std::vector<int64_t>>{
           {5, 6}, {7, 9}, {1, 2}, {3, 5, 8, 10}, {7}, {0, 4, 11}, {}}) {
    ASSERT_TRUE(MergeTimeSeries(Series(piece), into).ok());
  }
  EXPECT_THAT(Indices(into), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  for (const RpcInterval& interval : into.intervals()) {
    const bool came_twice = interval.index() == 5 || interval.index() == 7;
    EXPECT_EQ(interval.succeeded_count(), came_twice ? 2 : 1);
    EXPECT_EQ(interval.service_time_ns().sum(),
              interval.index() * interval.succeeded_count());
  }
}

TEST(TimeSeriesTest, MergedSeriesAreAsWideAsTheWidest) {
  RpcTimeSeries wide = Series({1, 2});
  wide.set_interval_ns(4 * kSecond);
  RpcTimeSeries into = Series({3, 4, 6, 7, 12});
  ASSERT_TRUE(MergeTimeSeries(wide, into).ok());
  EXPECT_EQ(into.interval_ns(), 4 * kSecond);
  EXPECT_THAT(Indices(into), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(into.intervals(1).succeeded_count(), 4);
  EXPECT_EQ(into.intervals(1).service_time_ns().sum(), 4 + 6 + 7 + 1);
  EXPECT_EQ(into.intervals(3).succeeded_count(), 1);
  // In the opposite order.
  RpcTimeSeries wide_first = wide;
  ASSERT_TRUE(MergeTimeSeries(Series({3, 4, 6, 7, 12}), wide_first).ok());
  EXPECT_EQ(wide_first.SerializeAsString(), into.SerializeAsString());
}

TEST(TimeSeriesTest, MergingIntoNothingIsMoving) {
  RpcTimeSeries into;
  ASSERT_TRUE(MergeTimeSeries(Series({3}), into).ok());
  EXPECT_THAT(Indices(into), ElementsAre(3));
  EXPECT_EQ(into.interval_ns(), kSecond);
}

TEST(TimeSeriesTest, ContradictionsAreRefused) {
  RpcTimeSeries into = Series({1});
  RpcTimeSeries odd = Series({1});
  odd.set_interval_ns(3 * kSecond / 2);
  EXPECT_THAT(std::string(MergeTimeSeries(odd, into).message()),
              HasSubstr("cannot be merged"));
  EXPECT_THAT(std::string(MergeTimeSeries(Series({2, 2}), into).message()),
              HasSubstr("interval 2 after interval 2"));
  RpcTimeSeries negative = Series({2});
  negative.mutable_intervals(0)->set_sent_count(-1);
  EXPECT_THAT(std::string(MergeTimeSeries(negative, into).message()),
              HasSubstr("at least 0"));
  RpcTimeSeries without_width = Series({2});
  without_width.clear_interval_ns();
  EXPECT_FALSE(MergeTimeSeries(without_width, into).ok());
  EXPECT_THAT(Indices(into), ElementsAre(1));
}

TEST(TimeSeriesTest, OfferedLoadsAddUp) {
  OfferedLoad into;
  OfferedLoad from;
  from.set_offered_count(100);
  from.set_unsent_count(2);
  from.set_held_back_count(30);
  *from.mutable_unsent_wait_ns() = Of({5, 7});
  ASSERT_TRUE(MergeOfferedLoad(from, into).ok());
  ASSERT_TRUE(MergeOfferedLoad(from, into).ok());
  EXPECT_EQ(into.offered_count(), 200);
  EXPECT_EQ(into.unsent_count(), 4);
  EXPECT_EQ(into.held_back_count(), 60);
  EXPECT_EQ(into.unsent_wait_ns().sum(), 24);
  from.set_unsent_count(-1);
  EXPECT_FALSE(MergeOfferedLoad(from, into).ok());
  EXPECT_EQ(into.unsent_count(), 4);
}

TEST(TimeSeriesTest, EncodedSeriesAddUpToThemselves) {
  stats::IntervalSeries series(4);
  for (int64_t step = 0; step < 2000; ++step) {
    series.At(step) = {.offered = 1,
                       .sent = 2,
                       .succeeded = 3,
                       .failed = 4,
                       .warmup = 5,
                       .request_bytes = 6,
                       .response_bytes = 7};
    series.ServiceTimes(step).Record(step);
    series.ResponseTimes(step).Record(2 * step);
  }
  stats::IntervalSeries decoded(4);
  std::vector<RpcTimeSeries> pieces;
  EncodeTimeSeries({&series}, [&](RpcTimeSeries piece) {
    EXPECT_EQ(piece.interval_ns(), 4 * kSecond);
    ASSERT_TRUE(AddTimeSeries(piece, decoded).ok());
    pieces.push_back(std::move(piece));
  });
  EXPECT_EQ(pieces.size(), 2);
  int count = 0;
  EncodeTimeSeries({&decoded}, [&](const RpcTimeSeries& piece) {
    EXPECT_EQ(piece.SerializeAsString(), pieces[count++].SerializeAsString());
  });
  EXPECT_EQ(count, 2);
}

TEST(TimeSeriesTest, WhatIsNoSeriesOfSecondsIsNotAdded) {
  stats::IntervalSeries series;
  RpcTimeSeries proto = Series({1, 2});
  proto.set_interval_ns(kSecond / 2);
  EXPECT_FALSE(AddTimeSeries(proto, series).ok());
  proto = Series({2, 1});
  EXPECT_FALSE(AddTimeSeries(proto, series).ok());
  proto = Series({1, std::numeric_limits<int64_t>::max() / 2});
  EXPECT_FALSE(AddTimeSeries(proto, series).ok());
  EXPECT_EQ(series.memory_bytes(), 0);
}

// ---- Activities -------------------------------------------------------------

TEST(ActivitySeriesTest, IntervalsAreEncodedInTheirOwnWords) {
  stats::IntervalSeries series(2);
  series.At(9) = {
      .offered = 1, .succeeded = 2, .request_bytes = 3, .response_bytes = 4};
  series.ServiceTimes(9).Record(1000);
  series.ResponseTimes(9).Record(2000);
  ActivitySeries encoded;
  EncodeActivitySeries(series, [&](ActivitySeries piece) { encoded = piece; });
  EXPECT_EQ(encoded.interval_ns(), 2'000'000'000);
  ASSERT_EQ(encoded.intervals_size(), 1);
  const ActivityInterval& interval = encoded.intervals(0);
  EXPECT_EQ(interval.index(), 4);
  EXPECT_EQ(interval.offered_count(), 1);
  EXPECT_EQ(interval.completed_count(), 2);
  EXPECT_EQ(interval.input_bytes(), 3);
  EXPECT_EQ(interval.output_bytes(), 4);
  EXPECT_EQ(interval.read_ns().max(), 1000);
  EXPECT_EQ(interval.write_ns().max(), 2000);
  EXPECT_TRUE(ValidateActivitySeries(encoded).ok());
}

TEST(ActivitySeriesTest, AClosedLoopOffersNothing) {
  stats::IntervalSeries series;
  series.At(9) = {.succeeded = 2};
  EncodeActivitySeries(series, [&](const ActivitySeries& piece) {
    EXPECT_FALSE(piece.intervals(0).has_offered_count());
    EXPECT_FALSE(piece.intervals(0).has_read_ns());
  });
}

ActivitySeries RandomSeries(std::mt19937_64& random) {
  stats::IntervalSeries series(int64_t{1} << random() % 3);
  for (int64_t step = random() % 10; step < 40; step += 1 + random() % 5) {
    series.At(step) = {.offered = static_cast<int64_t>(random() % 3),
                       .succeeded = 1,
                       .request_bytes = static_cast<int64_t>(random() % 100)};
    if (random() % 2 == 0) series.ServiceTimes(step).Record(random() % 1000);
    if (random() % 2 == 0) series.ResponseTimes(step).Record(random() % 1000);
  }
  ActivitySeries encoded;
  EncodeActivitySeries(series, [&](ActivitySeries piece) { encoded = piece; });
  return encoded;
}

TEST(ActivitySeriesTest, TheOrderOfPiecesDoesNotMatter) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<ActivitySeries> pieces;
    for (int i = 0; i < 4; ++i) pieces.push_back(RandomSeries(random));
    ActivitySeries one;
    for (const ActivitySeries& piece : pieces) {
      ASSERT_TRUE(MergeActivitySeries(piece, one).ok());
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    ActivitySeries other;
    for (const ActivitySeries& piece : pieces) {
      ASSERT_TRUE(MergeActivitySeries(piece, other).ok());
    }
    ASSERT_TRUE(ValidateActivitySeries(one).ok());
    ASSERT_EQ(one.DebugString(), other.DebugString());
  }
}

TEST(ActivitySeriesTest, LongSeriesComeInPiecesThatAddUp) {
  stats::IntervalSeries series;
  for (int64_t step = 0; step < 1000; ++step) series.At(step).succeeded = step;
  int pieces = 0;
  ActivitySeries sum;
  EncodeActivitySeries(series, [&](ActivitySeries piece) {
    ++pieces;
    ASSERT_TRUE(MergeActivitySeries(std::move(piece), sum).ok());
  });
  EXPECT_EQ(pieces, 4);
  ASSERT_EQ(sum.intervals_size(), 1000);
  EXPECT_EQ(sum.intervals(999).completed_count(), 999);
}

std::string ProblemOf(const char* text) {
  ActivitySeries into;
  const absl::Status status =
      MergeActivitySeries(base::FromText<ActivitySeries>(text), into);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(into.intervals_size(), 0);
  return std::string(status.message());
}

TEST(ActivitySeriesTest, ContradictionsAreRefused) {
  EXPECT_THAT(ProblemOf("intervals { index: 1 }"), HasSubstr("intervals of 0"));
  EXPECT_THAT(ProblemOf("interval_ns: 1 intervals { index: 2 } "
                        "intervals { index: 2 }"),
              HasSubstr("interval 2 after interval 2"));
  EXPECT_THAT(
      ProblemOf("interval_ns: 1 intervals { index: 2 completed_count: -1 }"),
      HasSubstr("at least 0"));
  EXPECT_THAT(
      ProblemOf("interval_ns: 1 intervals { index: 2 read_ns { min: 7 } }"),
      HasSubstr("interval 2 of an activity's series"));
  EXPECT_THAT(
      ProblemOf("interval_ns: 2000000000 intervals { index: 9000000000000 }"),
      HasSubstr("64-bit nanoseconds"));
}

TEST(ActivitySeriesTest, SumsDoNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  ActivitySeries series;
  series.set_interval_ns(1);
  series.add_intervals()->set_output_bytes(kMost);
  ActivitySeries sum = series;
  ASSERT_TRUE(MergeActivitySeries(series, sum).ok());
  EXPECT_EQ(sum.intervals(0).output_bytes(), kMost);
}

}  // namespace
}  // namespace distbench::results
