// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/antagonists/memory_traffic.h"

#include <set>

#include "absl/status/status.h"
#include "distbench/base/work_random.h"
#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;

TEST(LastLevelCacheTest, IsTheLargestOfTheHighestLevel) {
  numa::FakeHost host;
  host.AddNodes({{.id = 0, .cpus = "0-3"}});
  host.AddCache("0-1", 1, "32K", "Data");
  host.AddCache("0-1", 2, "64M");
  host.AddCache("0-1", 3, "16M");
  host.AddCache("2-3", 3, "32M");
  const auto bytes = LastLevelCacheBytes(host.root());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, 32 << 20);
}

TEST(LastLevelCacheTest, InstructionCachesDoNotCount) {
  numa::FakeHost host;
  host.AddNodes({{.id = 0, .cpus = "0"}});
  host.AddCache("0", 1, "64K", "Instruction");
  host.AddCache("0", 1, "32K", "Data");
  EXPECT_EQ(LastLevelCacheBytes(host.root()).value_or(0), 32 << 10);
}

TEST(LastLevelCacheTest, AHostThatDoesNotSayIsAnError) {
  const numa::FakeHost host;
  const auto bytes = LastLevelCacheBytes(host.root());
  EXPECT_EQ(bytes.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(bytes.status().ToString(), HasSubstr("set bytes"));
}

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
  const activity::Work work = activity::DoIteration(*activity, 0);
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
  const auto sum_of = [](activity::Activity& stream, uint64_t iteration) {
    return activity::DoIteration(stream, iteration).checksum -
           base::WorkRandom::Mix(iteration);
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
  EXPECT_EQ(activity::DoIteration(*activity, 3).input_bytes, 160'000);
}

TEST(CacheThrashTest, CountsLines) {
  const CacheThrashOptions options = {
      .bytes = 6400, .accesses = 1000, .reads = true, .writes = true};
  const activity::Work both =
      activity::DoIteration(*MakeCacheThrash(options), 0);
  EXPECT_EQ(both.operations, 1000);
  EXPECT_EQ(both.input_bytes, 64'000);
  EXPECT_EQ(both.output_bytes, 64'000);
  CacheThrashOptions read = options;
  read.writes = false;
  EXPECT_EQ(activity::DoIteration(*MakeCacheThrash(read), 0).output_bytes, 0);
  CacheThrashOptions write = options;
  write.reads = false;
  write.writes = true;
  EXPECT_EQ(activity::DoIteration(*MakeCacheThrash(write), 0).input_bytes, 0);
}

// A walk through all lines has the same sum wherever it starts.
uint64_t SumOfWalk(int64_t stride_bytes, int64_t lines, uint64_t iteration) {
  CacheThrashOptions options = {
      .bytes = 64 * lines, .accesses = lines, .stride_bytes = stride_bytes};
  const auto walk = MakeCacheThrash(options);
  // The rest of the checksum depends on the iteration alone.
  options.accesses = 0;
  const auto nothing = MakeCacheThrash(options);
  return activity::DoIteration(*walk, iteration).checksum -
         activity::DoIteration(*nothing, iteration).checksum;
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
  const uint64_t first = activity::DoIteration(*one, 0).checksum;
  activity::DoIteration(*one, 1);
  EXPECT_EQ(activity::DoIteration(*one, 0).checksum, first);
}

}  // namespace
}  // namespace distbench::protection
