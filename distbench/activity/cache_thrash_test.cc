#include "distbench/activity/cache_thrash.h"

#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

TEST(CacheThrashTest, CountsLines) {
  const CacheThrashOptions options = {
      .bytes = 6400, .accesses = 1000, .reads = true, .writes = true};
  const Work both = DoIteration(*MakeCacheThrash(options), 0);
  EXPECT_EQ(both.operations, 1000);
  EXPECT_EQ(both.input_bytes, 64'000);
  EXPECT_EQ(both.output_bytes, 64'000);
  CacheThrashOptions read = options;
  read.writes = false;
  EXPECT_EQ(DoIteration(*MakeCacheThrash(read), 0).output_bytes, 0);
  CacheThrashOptions write = options;
  write.reads = false;
  write.writes = true;
  EXPECT_EQ(DoIteration(*MakeCacheThrash(write), 0).input_bytes, 0);
}

// A walk through all lines has the same sum wherever it starts.
uint64_t SumOfWalk(int64_t stride_bytes, int64_t lines, uint64_t iteration) {
  CacheThrashOptions options = {
      .bytes = 64 * lines, .accesses = lines, .stride_bytes = stride_bytes};
  const auto walk = MakeCacheThrash(options);
  // The rest of the checksum depends on the iteration alone.
  options.accesses = 0;
  const auto nothing = MakeCacheThrash(options);
  return DoIteration(*walk, iteration).checksum -
         DoIteration(*nothing, iteration).checksum;
}

TEST(CacheThrashTest, AStrideVisitsEveryLineOfTheSet) {
  const uint64_t sum = SumOfWalk(64, 101, 0);
  EXPECT_EQ(SumOfWalk(64, 101, 1), sum);
  // 101 is a prime number, so every stride reaches all lines.
  EXPECT_EQ(SumOfWalk(64 * 7, 101, 2), sum);
  EXPECT_EQ(SumOfWalk(64 * 1000, 101, 3), sum);
  EXPECT_NE(SumOfWalk(64 * 101, 101, 4), sum);
}

TEST(CacheThrashTest, WhatItWritesDoesNotChangeWhatItReads) {
  const CacheThrashOptions options = {
      .bytes = 640, .accesses = 100, .reads = true, .writes = true, .seed = 3};
  const auto one = MakeCacheThrash(options);
  const uint64_t first = DoIteration(*one, 0).checksum;
  DoIteration(*one, 1);
  EXPECT_EQ(DoIteration(*one, 0).checksum, first);
}

}  // namespace
}  // namespace distbench::activity
