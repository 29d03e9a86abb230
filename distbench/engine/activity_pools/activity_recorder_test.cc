// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/activity_pools/activity_recorder.h"

#include <map>
#include <utility>
#include <vector>

#include "distbench/activity/activity.h"
#include "distbench/stats/interval_series.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNull;
using ::testing::Pair;

constexpr int64_t kSecond = 1'000'000'000;

// A counted number of each interval of an activity, by its index.
std::vector<std::pair<int64_t, int64_t>> Numbers(
    const ActivityRecorder& recorder, int activity,
    int64_t stats::IntervalCounts::*number) {
  std::vector<std::pair<int64_t, int64_t>> numbers;
  stats::IntervalSeries::ForEach(
      {recorder.series(activity)},
      [&](const stats::IntervalSeries::View& interval) {
        numbers.emplace_back(interval.index, interval.counts.*number);
      });
  return numbers;
}

ActivityRecorder MakeRecorder(int64_t memory_bytes = 1 << 20) {
  return ActivityRecorder({.activity_count = 2,
                           .recording_memory_bytes = memory_bytes,
                           .unix_offset_ns = 100 * kSecond});
}

TEST(ActivityRecorderTest, CountsInSecondsOfUnixTime) {
  ActivityRecorder recorder = MakeRecorder();
  recorder.CountOffered(1, kSecond - 1, 1);
  recorder.CountOffered(1, kSecond, 5);
  recorder.CountDone(1, kSecond + 5,
                     {.input_bytes = 10, .output_bytes = 20, .operations = 1});
  recorder.CountDone(1, 3 * kSecond, {.input_bytes = 1});
  // A time that has passed: an iteration that was due earlier.
  recorder.CountOffered(1, kSecond + 7, 2);
  EXPECT_THAT(recorder.series(0), IsNull());
  EXPECT_THAT(Numbers(recorder, 1, &stats::IntervalCounts::offered),
              ElementsAre(Pair(100, 1), Pair(101, 7), Pair(103, 0)));
  EXPECT_THAT(Numbers(recorder, 1, &stats::IntervalCounts::succeeded),
              ElementsAre(Pair(100, 0), Pair(101, 1), Pair(103, 1)));
  EXPECT_THAT(Numbers(recorder, 1, &stats::IntervalCounts::request_bytes),
              ElementsAre(Pair(100, 0), Pair(101, 10), Pair(103, 1)));
  EXPECT_THAT(Numbers(recorder, 1, &stats::IntervalCounts::response_bytes),
              ElementsAre(Pair(100, 0), Pair(101, 20), Pair(103, 0)));
}

// Has read and written since the last call.
class Storing final : public activity::Activity {
 public:
  activity::Work DoPart(uint64_t, int, int) override { return {}; }
  void TakeLatencies(stats::LogHistogram& read_ns,
                     stats::LogHistogram& write_ns) override {
    read_ns.RecordN(1000, 3);
    write_ns.Record(2000);
  }
};

TEST(ActivityRecorderTest, TakesLatenciesOnce) {
  ActivityRecorder recorder = MakeRecorder();
  Storing storing;
  recorder.CountDone(0, 0, {}, &storing);
  recorder.CountDone(0, kSecond, {}, &storing);
  std::map<int64_t, std::pair<uint64_t, uint64_t>> counts;
  stats::IntervalSeries::ForEach(
      {recorder.series(0)}, [&](const stats::IntervalSeries::View& interval) {
        counts[interval.index] = {interval.service_time_ns.count(),
                                  interval.response_time_ns.count()};
      });
  EXPECT_THAT(counts,
              ElementsAre(Pair(100, Pair(3u, 1u)), Pair(101, Pair(3u, 1u))));
}

TEST(ActivityRecorderTest, StaysWithinItsMemoryByWiderIntervals) {
  constexpr int64_t kBudget = 20'000;
  constexpr int64_t kSeconds = 10'000;
  ActivityRecorder recorder = MakeRecorder(kBudget);
  for (int64_t second = 0; second < kSeconds; ++second) {
    for (const int activity : {0, 1}) {
      recorder.CountDone(activity, second * kSecond, {.output_bytes = 7});
    }
    // The seconds in which intervals are being merged may exceed it a little.
    ASSERT_LT(recorder.recording_memory_bytes(), kBudget * 5 / 4);
  }
  EXPECT_GT(recorder.series(0)->width(), 1);
  EXPECT_EQ(recorder.series(0)->width(), recorder.series(1)->width());
  int64_t sum = 0;
  for (const auto& [index, bytes] :
       Numbers(recorder, 1, &stats::IntervalCounts::response_bytes)) {
    sum += bytes;
  }
  EXPECT_EQ(sum, 7 * kSeconds);
}

}  // namespace
}  // namespace distbench::engine
