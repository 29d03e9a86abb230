// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/block_devices/io_phase.h"

#include <atomic>
#include <vector>

#include "distbench/base/testing/fake_clock.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMillisecond = 1'000'000;

stats::LogHistogram Decoded(const Histogram& proto) {
  stats::LogHistogram histogram;
  EXPECT_TRUE(results::AddHistogram(proto, histogram).ok());
  return histogram;
}

// One thread, on a clock that operations and sleep advance.
class IoPhaseTest : public ::testing::Test {
 protected:
  IoPhaseTest() {
    target_.size_bytes = 4 * 4096;
    target_.clock = &clock_;
    target_.sleep = [this](int64_t until_ns) {
      clock_.SetMonotonicNs(until_ns);
    };
    target_.run = [this](const IoOperation& operation) {
      operations_.push_back(operation);
      clock_.Advance(service_ns_);
      return absl::OkStatus();
    };
    phase_.name = "x";
    phase_.warmup = absl::Milliseconds(3);
    phase_.duration = absl::Milliseconds(10);
  }

  base::FakeClock clock_;
  int64_t service_ns_ = kMillisecond;
  std::vector<IoOperation> operations_;
  IoTarget target_;
  IoPhase phase_;
};

TEST_F(IoPhaseTest, AnUnlimitedPhaseCountsWhatEndsAfterItsWarmup) {
  phase_.read_rate = IoPhase::kUnlimited;
  const auto record = RunIoPhase(phase_, target_);
  ASSERT_TRUE(record.ok()) << record.status();
  // Ends at 1, 2, 3, ... 13 ms; those from 3 to 12 ms count.
  EXPECT_EQ(operations_.size(), 13u);
  EXPECT_EQ(Decoded(record->read_ns()).count(), 10u);
  EXPECT_EQ(Decoded(record->read_ns()).max(), kMillisecond);
  EXPECT_EQ(Decoded(record->write_ns()).count(), 0u);
  EXPECT_EQ(record->duration_ns(), 10 * kMillisecond);
  EXPECT_FALSE(record->has_wanted_read_rate());
}

TEST_F(IoPhaseTest, SequentialBlocksFollowEachOtherAndWrapAround) {
  phase_.write_rate = IoPhase::kUnlimited;
  phase_.warmup = absl::ZeroDuration();
  phase_.duration = absl::Milliseconds(6);
  ASSERT_TRUE(RunIoPhase(phase_, target_).ok());
  std::vector<int64_t> offsets;
  for (const IoOperation& operation : operations_) {
    EXPECT_TRUE(operation.is_write);
    EXPECT_EQ(operation.bytes, 4096);
    offsets.push_back(operation.offset / 4096);
  }
  EXPECT_THAT(offsets, ElementsAre(0, 1, 2, 3, 0, 1));
}

TEST_F(IoPhaseTest, RandomBlocksAreAlignedAndInsideAndEqualInEachRun) {
  phase_.read_rate = IoPhase::kUnlimited;
  phase_.is_random = true;
  phase_.duration = absl::Milliseconds(200);
  ASSERT_TRUE(RunIoPhase(phase_, target_).ok());
  const std::vector<IoOperation> first = std::move(operations_);
  operations_.clear();
  std::vector<int> counts(4);
  for (const IoOperation& operation : first) {
    ASSERT_EQ(operation.offset % 4096, 0);
    ASSERT_LT(operation.offset, target_.size_bytes);
    ++counts[operation.offset / 4096];
  }
  EXPECT_THAT(counts, testing::Each(testing::Gt(20)));
  ASSERT_TRUE(RunIoPhase(phase_, target_).ok());
  ASSERT_EQ(first.size(), operations_.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].offset, operations_[i].offset);
  }
}

TEST_F(IoPhaseTest, RatesAreKeptForReadsAndWritesTogether) {
  service_ns_ = 1000;
  phase_.read_rate = 1000;
  phase_.write_rate = 500;
  phase_.warmup = absl::ZeroDuration();
  phase_.duration = absl::Milliseconds(100);
  const auto record = RunIoPhase(phase_, target_);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(Decoded(record->read_ns()).count(), 100u);
  EXPECT_EQ(Decoded(record->write_ns()).count(), 50u);
  EXPECT_EQ(record->wanted_read_rate(), 1000);
  EXPECT_EQ(record->wanted_write_rate(), 500);
}

TEST_F(IoPhaseTest, ASlowTargetDoesLessThanWasAskedFor) {
  service_ns_ = 2 * kMillisecond;
  phase_.read_rate = 1000;
  phase_.warmup = absl::ZeroDuration();
  phase_.duration = absl::Milliseconds(100);
  const auto record = RunIoPhase(phase_, target_);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(Decoded(record->read_ns()).count(), 49u);
}

TEST_F(IoPhaseTest, AnErrorEndsThePhase) {
  phase_.read_rate = IoPhase::kUnlimited;
  target_.run = [](const IoOperation&) {
    return absl::DataLossError("a bad block");
  };
  EXPECT_THAT(base::Message(RunIoPhase(phase_, target_).status()),
              HasSubstr("a bad block"));
}

TEST_F(IoPhaseTest, CanBeCancelled) {
  phase_.read_rate = IoPhase::kUnlimited;
  target_.is_cancelled = [this] { return operations_.size() >= 3; };
  EXPECT_TRUE(absl::IsCancelled(RunIoPhase(phase_, target_).status()));
  EXPECT_EQ(operations_.size(), 3u);
}

TEST_F(IoPhaseTest, ATargetWithoutABlockIsRefused) {
  target_.size_bytes = 4095;
  EXPECT_TRUE(absl::IsInvalidArgument(RunIoPhase(phase_, target_).status()));
}

// Several threads on real time: each has its number, and all blocks are used.
TEST(IoPhaseThreadsTest, ThreadsShareThePlan) {
  std::atomic<int> count = 0;
  std::atomic<bool> is_wrong = false;
  std::atomic<int> blocks_used = 0;
  IoTarget target;
  target.size_bytes = 8 * 4096;
  target.sleep = [](int64_t) {};
  target.run = [&](const IoOperation& operation) {
    if (operation.thread < 0 || operation.thread >= 4) is_wrong = true;
    blocks_used |= 1 << (operation.offset / 4096);
    ++count;
    return absl::OkStatus();
  };
  target.is_cancelled = [&] { return count >= 1000; };
  IoPhase phase;
  phase.read_rate = IoPhase::kUnlimited;
  phase.queue_depth = 4;
  phase.duration = absl::Hours(1);
  EXPECT_TRUE(absl::IsCancelled(RunIoPhase(phase, target).status()));
  EXPECT_FALSE(is_wrong);
  EXPECT_EQ(blocks_used, 0xff);
}

TEST(ScratchFileTest, ReadsAndWritesOnADiskOrSaysWhyNot) {
  ScratchFile::Options options;
  options.folder = ::testing::TempDir();
  options.size_bytes = 3 * 65536 + 1;
  options.largest_block_bytes = 65536;
  options.threads = 2;
  const auto file = ScratchFile::Create(options);
  if (absl::IsFailedPrecondition(file.status())) {
    GTEST_SKIP() << file.status();
  }
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->size_bytes(), 3 * 65536);
  EXPECT_TRUE((*file)->Run({1, true, 65536, 4096}).ok());
  EXPECT_TRUE((*file)->Run({0, false, 2 * 65536, 65536}).ok());
  EXPECT_THAT(base::Message((*file)->Run({0, false, 3 * 65536, 4096})),
              HasSubstr("0 of 4096 bytes"));
}

TEST(ScratchFileTest, ErrorsNameTheFolder) {
  ScratchFile::Options options;
  options.folder = "/no/such/folder";
  EXPECT_THAT(base::Message(ScratchFile::Create(options).status()),
              HasSubstr("/no/such/folder"));
  options.folder = "/proc";
  EXPECT_THAT(base::Message(ScratchFile::Create(options).status()),
              HasSubstr("/proc"));
}

}  // namespace
}  // namespace distbench::bench
