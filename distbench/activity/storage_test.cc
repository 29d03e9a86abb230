// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests of the activities that read and write files.

#include "distbench/activity/storage.h"

#include <memory>
#include <string>
#include <vector>

#include "distbench/activity/data_file.h"
#include "distbench/base/work_random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

using ::testing::HasSubstr;

DiskOptions SmallDisk() {
  return {.name = "disk",
          .directory = testing::TempDir(),
          .data_bytes = 64 * config::kFilePageBytes,
          .block_bytes = 2 * config::kFilePageBytes,
          .operations = 10,
          .seed = 3};
}

StorageOptions SmallStorage() {
  return {.name = "storage",
          .directory = testing::TempDir(),
          .file_set_bytes = 64 * config::kFilePageBytes,
          .file_bytes = 4 * config::kFilePageBytes,
          .hash_bytes = 10 * config::kFilePageBytes,
          .seed = 3};
}

std::unique_ptr<Activity> Made(
    absl::StatusOr<std::unique_ptr<Activity>> activity) {
  EXPECT_TRUE(activity.ok()) << activity.status();
  return *std::move(activity);
}

struct Latencies {
  explicit Latencies(Activity& activity) {
    activity.TakeLatencies(reads, writes);
  }

  stats::LogHistogram reads;
  stats::LogHistogram writes;
};

TEST(DiskTest, CountsWhatItReads) {
  const auto disk = Made(MakeDisk(SmallDisk()));
  const Work work = DoIteration(*disk, 0);
  EXPECT_EQ(work.input_bytes, 10 * 2 * config::kFilePageBytes);
  EXPECT_EQ(work.output_bytes, 0);
  EXPECT_EQ(work.failed_operations, 0);
}

TEST(DiskTest, WritesItsShare) {
  DiskOptions options = SmallDisk();
  options.write_percent = 30;
  options.operations = 2000;
  const auto disk = Made(MakeDisk(options));
  const Work work = DoIteration(*disk, 0);
  const double share =
      static_cast<double>(work.output_bytes) /
      static_cast<double>(work.output_bytes + work.input_bytes);
  EXPECT_NEAR(share, 0.3, 0.04);
  EXPECT_EQ(work.input_bytes + work.output_bytes, 2000 * options.block_bytes);
}

// A write does not change what is read later.
TEST(DiskTest, WorkDoesNotDependOnEarlierWrites) {
  DiskOptions options = SmallDisk();
  options.write_percent = 50;
  const auto disk = Made(MakeDisk(options));
  const uint64_t before = DoIteration(*disk, 5).checksum;
  for (int i = 0; i < 50; ++i) DoIteration(*disk, i);
  EXPECT_EQ(DoIteration(*disk, 5).checksum, before);
}

TEST(DiskTest, SequentialOperationsGoThroughAllBlocks) {
  DiskOptions options = SmallDisk();
  options.is_sequential = true;
  options.operations = 32;  // all
  const auto disk = Made(MakeDisk(options));
  // The same blocks, whichever comes first.
  const auto blocks_of = [&](uint64_t iteration) {
    return DoIteration(*disk, iteration).checksum -
           base::WorkRandom::Mix(iteration);
  };
  EXPECT_EQ(blocks_of(0), blocks_of(1));
  options.operations = 16;
  const auto half = Made(MakeDisk(options));
  const auto half_of = [&](uint64_t iteration) {
    return DoIteration(*half, iteration).checksum -
           base::WorkRandom::Mix(iteration);
  };
  EXPECT_NE(half_of(0), half_of(1));
  EXPECT_EQ(half_of(0) + half_of(1), blocks_of(0));
}

TEST(DiskTest, MeasuresEachOperationOnce) {
  DiskOptions options = SmallDisk();
  options.write_percent = 100;
  options.sync_every = 3;
  const auto disk = Made(MakeDisk(options));
  DoIteration(*disk, 0);
  const Latencies latencies(*disk);
  EXPECT_EQ(latencies.reads.count(), 0);
  EXPECT_EQ(latencies.writes.count(), 10);
  EXPECT_EQ(Latencies(*disk).writes.count(), 0);
}

// Advances by the same time with each look.
class SteppingClock : public base::Clock {
 public:
  explicit SteppingClock(int64_t step_ns) : step_ns_(step_ns) {}
  int64_t MonotonicNs() const override { return now_ns_ += step_ns_; }
  int64_t UnixNs() const override { return now_ns_; }

 private:
  const int64_t step_ns_;
  mutable int64_t now_ns_ = 0;
};

TEST(DiskTest, AnIterationEndsInTime) {
  const SteppingClock clock(kLongestIterationNs / 4);
  DiskOptions options = SmallDisk();
  options.clock = &clock;
  const auto disk = Made(MakeDisk(options));
  EXPECT_EQ(DoIteration(*disk, 0).operations, 4);
}

TEST(DiskTest, AnIterationOnASlowDiskGetsOn) {
  const SteppingClock clock(2 * kLongestIterationNs);
  DiskOptions options = SmallDisk();
  options.clock = &clock;
  const auto disk = Made(MakeDisk(options));
  EXPECT_EQ(DoIteration(*disk, 0).operations, 1);
  EXPECT_EQ(DoIteration(*disk, 1).operations, 1);
}

TEST(StorageActivitiesTest, EndSoonIfTheyAreTold) {
  FeatureQueryOptions query = {.name = "query",
                               .directory = testing::TempDir(),
                               .rows = 1000,
                               .lookups = 30};
  std::vector<std::unique_ptr<Activity>> activities;
  activities.push_back(Made(MakeDisk(SmallDisk())));
  activities.push_back(Made(MakeStorage(SmallStorage())));
  activities.push_back(Made(MakeFeatureQuery(query)));
  for (const auto& activity : activities) {
    EXPECT_GT(DoIteration(*activity, 0).operations, 0);
    activity->EndSoon();
    EXPECT_EQ(DoIteration(*activity, 1).operations, 0);
  }
}

TEST(DiskTest, AnErrorNamesTheDirectory) {
  DiskOptions options = SmallDisk();
  options.directory = "/proc";
  EXPECT_THAT(MakeDisk(options).status().message(), HasSubstr("\"/proc\""));
}

TEST(StorageTest, HashesWhatItIsTold) {
  const auto storage = Made(MakeStorage(SmallStorage()));
  EXPECT_EQ(DoIteration(*storage, 0).input_bytes, 10 * config::kFilePageBytes);
  // Three reads: two whole files and half of one.
  EXPECT_EQ(Latencies(*storage).reads.count(), 3);
}

TEST(StorageTest, DividesTheWorkIntoParts) {
  StorageOptions options = SmallStorage();
  options.parallelism = 2;
  const auto storage = Made(MakeStorage(options));
  EXPECT_EQ(storage->part_count(), 2);
  EXPECT_EQ(DoIteration(*storage, 0).input_bytes, 10 * config::kFilePageBytes);
}

TEST(StorageTest, MemoryNeedsNoReads) {
  StorageOptions options = SmallStorage();
  options.memory_bytes = 32 * config::kFilePageBytes;
  options.memory_percent = 100;
  options.memory_write_percent = 100;
  const auto storage = Made(MakeStorage(options));
  const Work work = DoIteration(*storage, 0);
  EXPECT_EQ(work.input_bytes, 10 * config::kFilePageBytes);
  EXPECT_EQ(work.output_bytes, 10 * config::kFilePageBytes);
  EXPECT_EQ(Latencies(*storage).reads.count(), 0);
}

TEST(StorageTest, WritingMemoryDoesNotChangeTheWork) {
  StorageOptions options = SmallStorage();
  options.memory_bytes = 32 * config::kFilePageBytes;
  options.memory_percent = 50;
  options.memory_write_percent = 50;
  options.parallelism = 2;
  const auto storage = Made(MakeStorage(options));
  const uint64_t before = DoIteration(*storage, 5).checksum;
  for (int i = 0; i < 50; ++i) DoIteration(*storage, i);
  EXPECT_EQ(DoIteration(*storage, 5).checksum, before);
}

TEST(StorageTest, TheLogBeginsAgainAtItsStart) {
  StorageOptions options = SmallStorage();
  options.log_bytes = 1000;
  options.log_capacity_bytes = 2500;
  const auto storage = Made(MakeStorage(options));
  for (int i = 0; i < 20; ++i) {
    const Work work = DoIteration(*storage, i);
    EXPECT_EQ(work.output_bytes, 1000);
    EXPECT_EQ(work.failed_operations, 0);
  }
  EXPECT_EQ(Latencies(*storage).writes.count(), 20);
}

TEST(FeatureQueryTest, ReadsRows) {
  const auto query = Made(MakeFeatureQuery({.name = "query",
                                            .directory = testing::TempDir(),
                                            .rows = 1000,
                                            .row_bytes = 100,
                                            .lookups = 30,
                                            .seed = 3}));
  const Work work = DoIteration(*query, 0);
  EXPECT_EQ(work.input_bytes, 30 * 100);
  EXPECT_EQ(work.failed_operations, 0);
  EXPECT_EQ(Latencies(*query).reads.count(), 30);
}

// The last row of the store is in it.
TEST(FeatureQueryTest, ReadsAllRows) {
  for (const int64_t row_bytes : {8, 4096}) {
    const auto query = Made(MakeFeatureQuery({.name = "query",
                                              .directory = testing::TempDir(),
                                              .rows = 3,
                                              .row_bytes = row_bytes,
                                              .lookups = 100,
                                              .seed = 3}));
    EXPECT_EQ(DoIteration(*query, 0).failed_operations, 0);
  }
}

}  // namespace
}  // namespace distbench::activity
