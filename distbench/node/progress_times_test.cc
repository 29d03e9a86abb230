#include "distbench/node/progress_times.h"

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::ElementsAre;

// The seconds at which reports are due, if it is asked five times a second.
std::vector<double> DueSeconds(ProgressTimes times, double until) {
  constexpr absl::Duration kTick = absl::Milliseconds(200);
  std::vector<double> due;
  for (int tick = 0; tick * kTick <= absl::Seconds(until); ++tick) {
    const absl::Duration now = tick * kTick;
    if (times.IsDue(absl::ToInt64Nanoseconds(now), kTick / 2)) {
      due.push_back(absl::ToDoubleSeconds(now));
    }
  }
  return due;
}

TEST(ProgressTimesTest, ReportsOnceASecondUnlessToldOtherwise) {
  ProgressTimes times;
  EXPECT_THAT(DueSeconds(times, 3), ElementsAre(0, 1, 2, 3));
  times.Start(absl::ZeroDuration(), /*phase=*/0.9, 0);
  EXPECT_THAT(DueSeconds(times, 3), ElementsAre(0, 1, 2, 3));
}

TEST(ProgressTimesTest, AmongManyNodesEachReportsAtItsOwnTime) {
  ProgressTimes times;
  times.Start(absl::Seconds(5), /*phase=*/0, 0);
  EXPECT_THAT(DueSeconds(times, 10), ElementsAre(0, 5, 10));
  times.Start(absl::Seconds(5), /*phase=*/0.5, 0);
  EXPECT_THAT(DueSeconds(times, 10), ElementsAre(2, 7));
}

TEST(ProgressTimesTest, NoIntervalIsAbsurd) {
  ProgressTimes times;
  times.Start(absl::Nanoseconds(-5), /*phase=*/1, 0);
  EXPECT_THAT(DueSeconds(times, 1), ElementsAre(0, 1));
  times.Start(absl::Hours(1'000'000), /*phase=*/0, 0);
  EXPECT_THAT(DueSeconds(times, 61), ElementsAre(0, 60));
}

}  // namespace
}  // namespace distbench::node
