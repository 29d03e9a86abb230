#include "distbench/activity/memory_bandwidth.h"

#include <set>

#include "distbench/activity/work_random.h"
#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

struct Traffic {
  int64_t read;
  int64_t written;
};

Traffic TrafficOf(StreamKind kind, int64_t bytes_per_iteration) {
  const auto activity =
      MakeMemoryBandwidth({.kind = kind,
                           .bytes_per_iteration = bytes_per_iteration,
                           .bytes = 1 << 20,
                           .seed = 1});
  const Work work = DoIteration(*activity, 0);
  return {work.input_bytes, work.output_bytes};
}

TEST(MemoryBandwidthTest, CountsWhatEachKindMoves) {
  const Traffic copy = TrafficOf(StreamKind::kCopy, 48'000);
  EXPECT_EQ(copy.read, 24'000);
  EXPECT_EQ(copy.written, 24'000);
  const Traffic read = TrafficOf(StreamKind::kRead, 48'000);
  EXPECT_EQ(read.read, 48'000);
  EXPECT_EQ(read.written, 0);
  const Traffic write = TrafficOf(StreamKind::kWrite, 48'000);
  EXPECT_EQ(write.read, 0);
  EXPECT_EQ(write.written, 48'000);
  const Traffic triad = TrafficOf(StreamKind::kTriad, 48'000);
  EXPECT_EQ(triad.read, 32'000);
  EXPECT_EQ(triad.written, 16'000);
}

// Sums that depend on the place only: the array has ten of them.
TEST(MemoryBandwidthTest, IterationsGoThroughAllOfTheArray) {
  const auto activity = MakeMemoryBandwidth({.kind = StreamKind::kRead,
                                             .bytes_per_iteration = 8000,
                                             .bytes = 80'000,
                                             .seed = 1});
  const auto whole = MakeMemoryBandwidth({.kind = StreamKind::kRead,
                                          .bytes_per_iteration = 80'000,
                                          .bytes = 80'000,
                                          .seed = 1});
  const auto sum_of = [](Activity& stream, uint64_t iteration) {
    return DoIteration(stream, iteration).checksum - WorkRandom::Mix(iteration);
  };
  std::set<uint64_t> sums;
  uint64_t sum = 0;
  for (int i = 0; i < 10; ++i) {
    sums.insert(sum_of(*activity, i));
    sum += sum_of(*activity, i) - sum_of(*activity, i + 10);
  }
  EXPECT_EQ(sums.size(), 10u);
  EXPECT_EQ(sum, 0u);  // the same ten places again
  EXPECT_EQ(sum_of(*whole, 0), sum_of(*whole, 1));
}

TEST(MemoryBandwidthTest, AnIterationMayBeLargerThanTheArrays) {
  const auto activity = MakeMemoryBandwidth({.kind = StreamKind::kTriad,
                                             .bytes_per_iteration = 240'000,
                                             .bytes = 100,
                                             .seed = 1});
  EXPECT_EQ(DoIteration(*activity, 3).input_bytes, 160'000);
}

}  // namespace
}  // namespace distbench::activity
