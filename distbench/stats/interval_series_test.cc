// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/interval_series.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> Indices(const IntervalSeries& series) {
  std::vector<int64_t> indices;
  IntervalSeries::ForEach({&series}, [&](const IntervalSeries::View& view) {
    indices.push_back(view.index);
  });
  return indices;
}

TEST(IntervalSeriesTest, HasOnlyIntervalsInWhichSomethingHappened) {
  IntervalSeries series;
  EXPECT_THAT(Indices(series), ElementsAre());
  series.At(1'700'000'000).offered += 3;
  series.At(1'700'000'007).sent += 1;
  EXPECT_THAT(Indices(series), ElementsAre(1'700'000'000, 1'700'000'007));
}

TEST(IntervalSeriesTest, IntervalsAreAscendingInWhateverOrderTheyCome) {
  IntervalSeries series;
  for (int64_t index : {5, 9, 2, 7, 5, 8, 2}) ++series.At(index).sent;
  EXPECT_THAT(Indices(series), ElementsAre(2, 5, 7, 8, 9));
  EXPECT_EQ(series.At(5).sent, 2);
}

TEST(IntervalSeriesTest, ValuesStayInTheirIntervalAlsoOutOfOrder) {
  std::mt19937_64 random(1);
  std::map<int64_t, LogHistogram> expected;
  IntervalSeries series;
  for (int i = 0; i < 10'000; ++i) {
    // Mostly in order.
    const int64_t index = i / 1000 + (random() % 100 == 0 ? 1 : 0);
    const int64_t value = static_cast<int64_t>(random() % 1'000'000);
    ++series.At(index).succeeded;
    series.ServiceTimes(index).Record(value);
    expected[index].Record(value);
  }
  IntervalSeries::ForEach({&series}, [&](const IntervalSeries::View& view) {
    const LogHistogram& histogram = expected.at(view.index);
    EXPECT_EQ(view.counts.succeeded, histogram.count());
    EXPECT_EQ(view.service_time_ns.count(), histogram.count());
    EXPECT_EQ(view.service_time_ns.max(), histogram.max());
    EXPECT_EQ(view.service_time_ns.ValueAtQuantile(0.9),
              histogram.ValueAtQuantile(0.9));
    EXPECT_EQ(view.response_time_ns.count(), 0u);
    expected.erase(view.index);
  });
  EXPECT_TRUE(expected.empty());
}

TEST(IntervalSeriesTest, SeriesAddUp) {
  IntervalSeries a;
  IntervalSeries b;
  a.At(1).failed = 1;
  a.ResponseTimes(2).Record(100);
  b.ResponseTimes(2).Record(300);
  b.At(2).request_bytes = 7;
  b.At(3).warmup = 4;
  std::vector<int64_t> indices;
  IntervalSeries::ForEach({&a, &b}, [&](const IntervalSeries::View& view) {
    indices.push_back(view.index);
    if (view.index != 2) return;
    EXPECT_EQ(view.counts.request_bytes, 7);
    EXPECT_EQ(view.response_time_ns.count(), 2u);
    EXPECT_EQ(view.response_time_ns.sum(), 400);
  });
  EXPECT_THAT(indices, ElementsAre(1, 2, 3));
}

// Values at random steps, and their sums in intervals of a given width.
struct Recorded {
  std::map<int64_t, LogHistogram> Expected(int64_t width) const {
    std::map<int64_t, LogHistogram> expected;
    for (const auto& [step, value] : values) {
      expected[step / width].Record(value);
    }
    return expected;
  }

  std::vector<std::pair<int64_t, int64_t>> values;
};

void RecordSome(int64_t first_step, IntervalSeries& series,
                Recorded& recorded) {
  std::mt19937_64 random(static_cast<uint64_t>(first_step));
  for (int i = 0; i < 1000; ++i) {
    const int64_t step = first_step + i / 10 - (random() % 10 == 0 ? 1 : 0);
    const int64_t value = static_cast<int64_t>(random() % 100'000);
    ++series.At(step).succeeded;
    series.ServiceTimes(step).Record(value);
    recorded.values.push_back({step, value});
    if (i % 10 == 9) series.Close();
  }
}

void ExpectIntervals(absl::Span<const IntervalSeries* const> series,
                     std::map<int64_t, LogHistogram> expected) {
  IntervalSeries::ForEach(series, [&](const IntervalSeries::View& view) {
    ASSERT_EQ(expected.count(view.index), 1) << view.index;
    const LogHistogram& histogram = expected.at(view.index);
    EXPECT_EQ(view.counts.succeeded, histogram.count());
    EXPECT_EQ(view.service_time_ns.count(), histogram.count());
    EXPECT_EQ(view.service_time_ns.sum(), histogram.sum());
    EXPECT_EQ(view.service_time_ns.ValueAtQuantile(0.7),
              histogram.ValueAtQuantile(0.7));
    expected.erase(view.index);
  });
  EXPECT_TRUE(expected.empty());
}

TEST(IntervalSeriesTest, TellsWhatIsNewWhenItCloses) {
  IntervalSeries series;
  IntervalSeries copy(4);
  const auto add_to_copy = [&](int64_t step,
                               const IntervalSeries::Interval& recorded) {
    copy.Add(step, recorded);
  };
  Recorded recorded;
  const auto record = [&](int64_t step, int64_t value) {
    ++series.At(step).succeeded;
    series.ServiceTimes(step).Record(value);
    recorded.values.push_back({step, value});
  };
  record(1, 100);
  record(1, 200);
  record(2, 300);
  series.Close(add_to_copy);
  series.Close(add_to_copy);
  record(1, 400);
  record(9, 500);
  series.Close(add_to_copy);
  ExpectIntervals({&copy}, recorded.Expected(4));
  ExpectIntervals({&series}, recorded.Expected(1));
}

TEST(IntervalSeriesTest, SeveralSeriesStayWithinABudget) {
  constexpr int64_t kMaxBytes = 20'000;
  constexpr int64_t kSteps = 10'000;
  IntervalSeries busy;
  IntervalSeries idle;
  const std::vector<IntervalSeries*> series = {&busy, &idle};
  idle.At(0).sent = 1;
  int64_t width = 1;
  int64_t most_bytes = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    busy.At(step).sent = 1;
    for (IntervalSeries* each : series) each->Close();
    width = IntervalSeries::KeepWithin(kMaxBytes, width, series);
    most_bytes =
        std::max(most_bytes, busy.memory_bytes() + idle.memory_bytes());
  }
  EXPECT_LE(most_bytes, kMaxBytes + 1'000);
  EXPECT_GE(most_bytes, kMaxBytes);
  EXPECT_EQ(busy.width(), width);
  EXPECT_EQ(idle.width(), width);
  EXPECT_EQ(width, 256);
  EXPECT_EQ(IntervalSeries::KeepWithin(kMaxBytes, width, series), width);
}

// At every point, whether intervals have been merged yet or not.
TEST(IntervalSeriesTest, WidenedIntervalsAreSumsOfNarrowOnes) {
  IntervalSeries series;
  Recorded recorded;
  RecordSome(1001, series, recorded);
  ExpectIntervals({&series}, recorded.Expected(1));
  series.Widen(4);
  ExpectIntervals({&series}, recorded.Expected(4));
  EXPECT_FALSE(series.PutTogether(30));
  // Also behind the position that merging has reached.
  RecordSome(1003, series, recorded);
  ExpectIntervals({&series}, recorded.Expected(4));
  while (!series.PutTogether(30)) {
  }
  ExpectIntervals({&series}, recorded.Expected(4));
  RecordSome(1203, series, recorded);
  ExpectIntervals({&series}, recorded.Expected(4));
}

TEST(IntervalSeriesTest, SeriesOfDifferentWidthsAddUp) {
  IntervalSeries narrow;
  IntervalSeries wide(8);
  Recorded recorded;
  RecordSome(1001, narrow, recorded);
  RecordSome(1050, wide, recorded);
  EXPECT_EQ(IntervalSeries::WidestOf({&narrow, &wide}), 8);
  ExpectIntervals({&narrow, &wide}, recorded.Expected(8));
}

TEST(IntervalSeriesTest, WideIntervalsTakeLessMemory) {
  IntervalSeries series;
  Recorded recorded;
  RecordSome(1000, series, recorded);
  const int64_t before = series.memory_bytes();
  EXPECT_GT(before, 100 * 200);
  series.Widen(4);
  EXPECT_EQ(series.memory_bytes(), before);
  while (!series.PutTogether(10)) {
  }
  EXPECT_LT(series.memory_bytes(), before / 2);
  EXPECT_GT(series.memory_bytes(), before / 8);
  // The same as that of a series that had this width from the start.
  IntervalSeries wide(4);
  RecordSome(1000, wide, recorded);
  EXPECT_NEAR(series.memory_bytes(), wide.memory_bytes(),
              wide.memory_bytes() / 50);
}

TEST(IntervalSeriesTest, WhatIsBeingPutTogetherIsNotWidenedAgain) {
  IntervalSeries series;
  for (int64_t step = 0; step < 1000; ++step) series.At(step).sent = 1;
  series.Close();
  const int64_t max_bytes = series.memory_bytes() * 3 / 4;
  int64_t width = 1;
  for (int i = 0; i < 1000; ++i) {
    width = IntervalSeries::KeepWithin(max_bytes, width, {&series});
  }
  EXPECT_EQ(width, 2);
  EXPECT_LE(series.memory_bytes(), max_bytes);
}

}  // namespace
}  // namespace distbench::stats
