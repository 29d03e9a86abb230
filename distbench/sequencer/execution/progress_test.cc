#include "distbench/sequencer/execution/progress.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace distbench {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TrafficProgress Progress(int64_t count) {
  TrafficProgress progress;
  progress.set_succeeded_count(count);
  progress.set_failed_count(count);
  progress.set_in_flight_count(count);
  progress.set_offered_count(count);
  progress.set_open_loop_ended_count(count);
  return progress;
}

TEST(ProgressTest, AddsUp) {
  TrafficProgress sum = Progress(1);
  AddProgress(Progress(2), sum);
  EXPECT_EQ(sum.succeeded_count(), 3);
  EXPECT_EQ(sum.failed_count(), 3);
  EXPECT_EQ(sum.in_flight_count(), 3);
  EXPECT_EQ(sum.offered_count(), 3);
  EXPECT_EQ(sum.open_loop_ended_count(), 3);
}

TEST(ProgressTest, NewerTotalsReplaceOlderOnes) {
  TrafficProgress progress = Progress(1);
  UpdateProgress(Progress(2), progress);
  EXPECT_EQ(progress.succeeded_count(), 2);
  EXPECT_EQ(progress.failed_count(), 2);
  EXPECT_EQ(progress.in_flight_count(), 2);
  EXPECT_EQ(progress.offered_count(), 2);
  EXPECT_EQ(progress.open_loop_ended_count(), 2);
}

// Nodes may report any numbers.
TEST(ProgressTest, SumsAreNumbersWhateverIsAdded) {
  TrafficProgress sum = Progress(kMost);
  AddProgress(Progress(10), sum);
  EXPECT_EQ(sum.succeeded_count(), kMost);
  EXPECT_EQ(sum.failed_count(), kMost);
  EXPECT_EQ(sum.in_flight_count(), kMost);
  EXPECT_EQ(sum.offered_count(), kMost);
  EXPECT_EQ(sum.open_loop_ended_count(), kMost);
}

}  // namespace
}  // namespace distbench
