#include "distbench/results/activity_series.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/results/histogram_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

using ::testing::HasSubstr;

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
