#include "distbench/activity/grow_memory.h"

#include <fstream>
#include <string>
#include <thread>

#include "distbench/activity/held_memory.h"
#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

// Without huge pages, and with few enough that they do not end up in swap.
constexpr int64_t kPages = 2000;

GrowMemoryOptions Options() {
  return {.bytes_per_iteration = 100 * PageBytes(),
          .limit_bytes = kPages * PageBytes(),
          .hot_percent = 0,
          .seed = 1};
}

// Resident pages of this process. The counter in statm would be inexact.
int64_t ResidentPages() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  std::string word;
  while (rollup >> word && word != "Rss:") {
  }
  int64_t kib = 0;
  rollup >> kib;
  return kib * 1024 / PageBytes();
}

Work DoIterations(Activity& activity, int count) {
  Work work;
  for (int i = 0; i < count; ++i) work += DoIteration(activity, i);
  return work;
}

TEST(GrowMemoryTest, HoldsWhatItHasCounted) {
  const auto activity = MakeGrowMemory(Options());
  const int64_t before = ResidentPages();
  const Work work = DoIterations(*activity, 20);
  EXPECT_EQ(work.operations, kPages);
  EXPECT_EQ(work.output_bytes, kPages * PageBytes());
  EXPECT_EQ(work.input_bytes, 0);
  EXPECT_EQ(work.failed_operations, 0);
  // The rest of the process changes little meanwhile.
  EXPECT_NEAR(ResidentPages() - before, kPages, kPages / 10);
  activity->Release();
  EXPECT_NEAR(ResidentPages() - before, 0, kPages / 10);
}

TEST(GrowMemoryTest, KeepsMemoryAtTheLimit) {
  const auto activity = MakeGrowMemory(Options());
  DoIterations(*activity, 20);
  const int64_t full = ResidentPages();
  EXPECT_EQ(DoIterations(*activity, 3).operations, 0);
  EXPECT_NEAR(ResidentPages(), full, kPages / 10);
}

TEST(GrowMemoryTest, StartsAgainAtTheLimit) {
  GrowMemoryOptions options = Options();
  options.restarts = true;
  const auto activity = MakeGrowMemory(options);
  DoIterations(*activity, 20);
  const int64_t full = ResidentPages();
  DoIteration(*activity, 20);  // frees
  EXPECT_NEAR(ResidentPages(), full - kPages, kPages / 10);
  EXPECT_EQ(DoIterations(*activity, 20).operations, kPages);
}

TEST(GrowMemoryTest, TouchesTheHotPart) {
  GrowMemoryOptions options = Options();
  options.hot_percent = 30;
  const auto activity = MakeGrowMemory(options);
  const Work first = DoIteration(*activity, 0);
  EXPECT_EQ(first.output_bytes, (100 + 30) * PageBytes());
  EXPECT_EQ(first.input_bytes, 30 * PageBytes());
  const Work second = DoIteration(*activity, 1);
  EXPECT_EQ(second.operations, 100 + 60);
  options.writes = false;
  const auto reading = MakeGrowMemory(options);
  EXPECT_EQ(DoIteration(*reading, 0).output_bytes, 100 * PageBytes());
  options.writes = true;
  options.reads = false;
  const auto writing = MakeGrowMemory(options);
  EXPECT_EQ(DoIteration(*writing, 0).input_bytes, 0);
}

TEST(GrowMemoryTest, ThreadsShareTheMemoryAndItsLimit) {
  const auto first = MakeGrowMemory(Options());
  const auto second = MakeGrowMemory(Options());
  second->ShareWith(*first);
  Work of_first;
  Work of_second;
  std::thread thread([&] { of_first = DoIterations(*first, 20); });
  of_second = DoIterations(*second, 20);
  thread.join();
  EXPECT_EQ(of_first.operations + of_second.operations, kPages);
}

// Advances with each look at it.
class ImpatientClock final : public base::Clock {
 public:
  int64_t MonotonicNs() const override { return now_ns_ += step_ns; }
  int64_t UnixNs() const override { return 0; }

  int64_t step_ns = 0;

 private:
  mutable int64_t now_ns_ = 0;
};

TEST(GrowMemoryTest, AnIterationEndsInTimeAndTheNextContinues) {
  ImpatientClock clock;
  GrowMemoryOptions options = Options();
  options.bytes_per_iteration = 1000 * PageBytes();
  options.hot_percent = 100;
  options.clock = &clock;
  const auto activity = MakeGrowMemory(options);
  // A few looks at the clock use up the time.
  clock.step_ns = kLongestIterationNs / 6;
  const Work work = DoIteration(*activity, 0);
  EXPECT_LT(work.operations, 1000);
  EXPECT_GT(work.output_bytes, 0);
  EXPECT_GT(work.input_bytes, 0);  // the hot part got its share of the time
  clock.step_ns = 0;
  EXPECT_EQ(DoIteration(*activity, 1).input_bytes,
            (work.output_bytes - work.input_bytes) + 1000 * PageBytes());
}

}  // namespace
}  // namespace distbench::activity
