#include "distbench/stats/interval_series.h"

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
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

TEST(IntervalSeriesTest, PublishesAnIntervalWhenItHasPassed) {
  RecentTimes recent;
  IntervalSeries series(&recent);
  series.ServiceTimes(1).Record(100);
  series.ServiceTimes(1).Record(200);
  EXPECT_EQ(recent.Take(), nullptr) << "it has not passed yet";
  series.ServiceTimes(2).Record(300);
  std::unique_ptr<RecentTimes::Times> times = recent.Take();
  ASSERT_NE(times, nullptr);
  EXPECT_EQ(times->service_time_ns.count(), 2u);
  EXPECT_EQ(times->service_time_ns.max(), 200);
  EXPECT_EQ(recent.Take(), nullptr) << "it was taken";
  series.ServiceTimes(3).Record(400);
  series.ServiceTimes(4).Record(500);
  EXPECT_EQ(recent.Take()->service_time_ns.count(), 2u)
      << "what is not taken adds up";
}

}  // namespace
}  // namespace distbench
