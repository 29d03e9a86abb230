// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests RunRecord with a disk that survives, and that is slow or fails.

#include <errno.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/testing/run_record_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string TestPath() {
  return testing::TempDir() + "/" +
         testing::UnitTest::GetInstance()->current_test_info()->name();
}

std::unique_ptr<RunDisk> NewDirectory() {
  std::filesystem::remove_all(TestPath());
  auto directory = RunDirectory::Open(TestPath());
  EXPECT_TRUE(directory.ok()) << directory.status();
  return *std::move(directory);
}

class RunRecordStorageTest : public RunRecordTest {
 protected:
  RunRecordStorageTest() : RunRecordTest(NewDirectory()) {}
  ~RunRecordStorageTest() override { followers_.clear(); }

  // Returns what a new follower gets.
  std::vector<std::string> Read(const std::shared_ptr<RunRecord>& record) {
    return Drain(Follow(record));
  }

  // The record that a later process makes of what was saved.
  std::shared_ptr<RunRecord> Open(const RunDescription& saved) {
    RunRecord::Options options;
    options.storage = &storage_;
    options.description = saved;
    auto file = disk_->OpenResult(saved.id(), saved.result_bytes());
    EXPECT_TRUE(file.ok()) << file.status();
    return std::make_shared<RunRecord>(options, clock_, *std::move(file));
  }

  void FailAppends(const absl::Status& error) {
    disk_->FailWrites(error, absl::OkStatus(), absl::OkStatus());
  }

  RunDescription Saved() {
    Await();
    absl::StatusOr<RunDescription> saved = disk_->Load(kRecordedRunId);
    EXPECT_TRUE(saved.ok()) << saved.status();
    return saved.ok() ? *saved : RunDescription();
  }
};

TEST_F(RunRecordStorageTest, SavesBeforeEachTestAndAfterIt) {
  auto record = MakeRecord();
  record->OnRunStarted();
  record->OnTestSetUp(0);
  EXPECT_EQ(Saved().current_test_index(), 0);
  EXPECT_EQ(Saved().state(), RunDescription::RUNNING);
  EXPECT_FALSE(Saved().has_result_bytes());
  RunOneTest(*record, 0, 1);
  const int64_t bytes = Saved().result_bytes();
  EXPECT_GT(bytes, kPieceBytes);
  record->OnTestSetUp(1);
  EXPECT_EQ(Saved().current_test_index(), 1);
  // No record is both in the file and in memory.
  EXPECT_EQ(record->unwritten_bytes(), 0);
  // A test that is running may never end.
  record->OnTestStarted(1, TestStarted());
  record->OnResultChunk(1, Piece("piece"));
  record->Save();
  EXPECT_EQ(Saved().result_bytes(), bytes);
  EXPECT_FALSE(record->is_on_disk());
}

TEST_F(RunRecordStorageTest, FollowersReadWhatIsOnTheDisk) {
  auto record = MakeRecord();
  RunFollower& early = Follow(record);
  RunOneTest(*record, 0, 10);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Drain(early), SizeIs(14));
  EXPECT_THAT(Read(record), SizeIs(13));
  EXPECT_EQ(Read(record).back(), "end ");
  EXPECT_TRUE(record->is_on_disk());
}

TEST_F(RunRecordStorageTest, TheIdIsSaidWhenTheDiskKnowsTheRun) {
  disk_->Close();
  auto record = MakeUnsavedRecord();
  record->Save();
  RunFollower& follower = Follow(record);
  ASSERT_TRUE(disk_->AwaitCall());
  EXPECT_FALSE(follower.Next().event.has_value());
  disk_->Open();
  Await();
  EXPECT_EQ(news_count_, 1);
  EXPECT_EQ(follower.Next().event->run_id(), kRecordedRunId);
}

TEST_F(RunRecordStorageTest, ADiskThatTakesItsTimeHoldsNobodyUp) {
  auto record = MakeRecord();
  RunOneTest(*record, 0, 1);
  Await();
  disk_->Close();
  // Requests and readers of stored results do not wait.
  RunFollower late(record, [] {});
  EXPECT_TRUE(late.Next().event->has_run_id());
  EXPECT_FALSE(late.Next().event.has_value());
  ASSERT_TRUE(disk_->AwaitCall());
  EXPECT_EQ(record->description().id(), kRecordedRunId);
  EXPECT_FALSE(record->has_ended());
  EXPECT_FALSE(late.Next().event.has_value());
  // Nor does the run, except at the end of a test.
  record->OnTestSetUp(1);
  record->OnTestStarted(1, TestStarted());
  record->OnProgress(1, TrafficProgress());
  record->OnResultChunk(1, Piece("piece"));
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_FALSE(record->has_ended());
  disk_->Open();
  Await();
  EXPECT_TRUE(record->has_ended());
  EXPECT_TRUE(record->is_on_disk());
}

TEST_F(RunRecordStorageTest, WhatWaitsForTheDiskIsBounded) {
  auto record = MakeRecord();
  disk_->Close();
  record->OnTestStarted(0, TestStarted());
  absl::Notification is_done;
  std::thread run([&] {
    for (int i = 0; i < 20; ++i) {
      record->OnResultChunk(0, Piece("piece"));
      EXPECT_LE(record->unwritten_bytes(), 4 * kPieceBytes);
    }
    is_done.Notify();
  });
  ASSERT_TRUE(disk_->AwaitCall());
  EXPECT_FALSE(is_done.HasBeenNotified());
  disk_->Open();
  run.join();
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Read(record), SizeIs(23));
}

TEST_F(RunRecordStorageTest, ARunThatIsCancelledDoesNotWaitForTheDisk) {
  stall_timeout_ = absl::InfiniteDuration();
  auto record = MakeRecord();
  disk_->Close();
  std::thread run([&] { RunOneTest(*record, 0, 20); });
  ASSERT_TRUE(disk_->AwaitCall());
  EXPECT_TRUE(record->Cancel(absl::CancelledError("enough")).ok());
  run.join();
  record->OnSequenceDone(absl::CancelledError("enough"));
  disk_->Open();
  Await();
  EXPECT_THAT(record->description().message(),
              AllOf(HasSubstr("enough"), HasSubstr("test 1 is lost"),
                    HasSubstr("the disk has taken nothing")));
  EXPECT_THAT(Read(record).back(),
              AllOf(HasSubstr("end enough; "), HasSubstr("test 1 is lost")));
}

TEST_F(RunRecordStorageTest, TheSequencersEndDoesNotWaitForTheDisk) {
  stall_timeout_ = absl::InfiniteDuration();
  auto record = MakeRecord();
  disk_->Close();
  std::thread run([&] {
    RunOneTest(*record, 0, 20);
    record->OnSequenceDone(absl::AbortedError("going"));
  });
  ASSERT_TRUE(disk_->AwaitCall());
  record->OnSequencerEnds();
  run.join();
  disk_->Open();
}

TEST_F(RunRecordStorageTest, ATestEndsWhenItIsOnTheDisk) {
  auto record = MakeRecord();
  disk_->Close();
  absl::Notification is_done;
  std::thread run([&] {
    RunOneTest(*record, 0, 1);
    is_done.Notify();
  });
  ASSERT_TRUE(disk_->AwaitCall());
  EXPECT_FALSE(is_done.HasBeenNotified());
  disk_->Open();
  run.join();
  EXPECT_TRUE(record->is_on_disk());
}

TEST_F(RunRecordStorageTest, AFollowerThatGoesWhileTheDiskReadsIsForgotten) {
  auto record = MakeRecord();
  RunOneTest(*record, 0, 1);
  Await();
  disk_->Close();
  auto follower = std::make_unique<RunFollower>(record, [] {});
  EXPECT_TRUE(follower->Next().event->has_run_id());
  EXPECT_FALSE(follower->Next().event.has_value());
  ASSERT_TRUE(disk_->AwaitCall());
  follower = nullptr;
  disk_->Open();
  Await();
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Read(record), ElementsAre("id", "piece0", "finished 0", "end "));
}

TEST_F(RunRecordStorageTest, AFullDiskLosesATestByNameAndNotTheOthers) {
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  RunOneTest(*record, 0, 3);
  const int64_t bytes = Saved().result_bytes();
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  RunOneTest(*record, 1, 10);
  EXPECT_EQ(record->unwritten_bytes(), 0);
  EXPECT_EQ(Saved().result_bytes(), bytes);
  FailAppends(absl::OkStatus());
  RunOneTest(*record, 2, 1);
  record->OnSequenceDone(absl::OkStatus());
  const auto is_lost =
      AllOf(HasSubstr("end run "), HasSubstr("the result of test 2 is lost"),
            HasSubstr("cannot write /x/run: No space left on device"));
  EXPECT_THAT(
      Drain(follower),
      ElementsAre("id", "started 0", "piece0", "piece1", "piece2", "finished 0",
                  "started 2", "piece0", "finished 2", is_lost));
  EXPECT_TRUE(record->is_on_disk());
  // A later process tells it, too.
  EXPECT_EQ(Saved().state(), RunDescription::FAILED);
  EXPECT_THAT(Saved().message(), HasSubstr("the result of test 2 is lost"));
  EXPECT_THAT(
      Read(Open(Saved())),
      ElementsAre("id", "piece0", "piece1", "piece2", "finished 0", "piece0",
                  "finished 2", HasSubstr("the result of test 2 is lost")));
}

TEST_F(RunRecordStorageTest, ATestOfWhichTheDiskHasAPartHasNoEnd) {
  auto record = MakeRecord();
  record->OnTestStarted(0, TestStarted());
  record->OnResultChunk(0, Piece("piece0"));
  Await();
  FailAppends(absl::ErrnoToStatus(EIO, "cannot write /x/run"));
  record->OnResultChunk(0, Piece("piece1"));
  Await();
  FailAppends(absl::OkStatus());
  // The rest would be taken for the whole.
  record->OnResultChunk(0, Piece("piece2"));
  ASSERT_TRUE(record->OnTestFinished(0, ResultOf("")).ok());
  RunOneTest(*record, 1, 1);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Read(record), ElementsAre("id", "piece0", "piece0", "finished 1",
                                        HasSubstr("test 1 is lost")));
}

TEST_F(RunRecordStorageTest, LostTestsAreNamedByTheirRanges) {
  auto record = MakeRecord();
  for (int i = 0; i < 100; ++i) {
    const bool fails = i < 3 || i % 2 == 1;
    FailAppends(fails ? absl::ErrnoToStatus(ENOSPC, "cannot write /x/run")
                      : absl::OkStatus());
    RunOneTest(*record, i, 1);
    if (i == 5) {
      EXPECT_THAT(record->description().message(),
                  HasSubstr("of tests 1 to 4, 6 is lost"));
    }
  }
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Read(record).back(),
              HasSubstr("of tests 1 to 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 and "
                        "others is lost"));
}

TEST_F(RunRecordStorageTest, ADiskThatTakesNothingDelaysARunOnlyOnce) {
  stall_timeout_ = absl::Milliseconds(10);
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  disk_->Close();
  // These end although the disk takes nothing.
  for (int i = 0; i < 5; ++i) {
    RunOneTest(*record, i, 20);
    EXPECT_LE(record->unwritten_bytes(), 4 * kPieceBytes);
  }
  disk_->Open();
  Await();
  RunOneTest(*record, 5, 1);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Saved().message(), HasSubstr("of tests 1 to 5 is lost"));
  const std::vector<std::string> words = Drain(follower);
  EXPECT_EQ(words[words.size() - 2], "finished 5");
}

TEST_F(RunRecordStorageTest, ALostTestDoesNotHideTheProgressOfTheNext) {
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  disk_->Close();
  record->Save();
  ASSERT_TRUE(disk_->AwaitCall());
  record->OnTestStarted(0, TestStarted());
  Progress(*record, 1);
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  disk_->Open();
  EXPECT_THAT(Drain(follower), ElementsAre("id"));
  FailAppends(absl::OkStatus());
  record->OnTestStarted(1, TestStarted());
  TrafficProgress progress;
  progress.set_succeeded_count(2);
  record->OnProgress(1, progress);
  EXPECT_THAT(Drain(follower), ElementsAre("started 1", "progress 2"));
}

TEST_F(RunRecordStorageTest, AFullDiskForDescriptionsIsSaidAndTriedAgain) {
  const absl::Status error = absl::ErrnoToStatus(ENOSPC, "cannot write /x/run");
  disk_->FailWrites(absl::OkStatus(), absl::OkStatus(), error);
  auto record = MakeRecord();
  RunOneTest(*record, 0, 1);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  EXPECT_FALSE(record->is_on_disk());
  EXPECT_EQ(record->description().state(), RunDescription::DONE);
  EXPECT_THAT(record->description().message(),
              AllOf(HasSubstr("cannot write /x/run: No space left on device"),
                    HasSubstr("known until the sequencer ends")));
  EXPECT_THAT(Read(record), ElementsAre("id", "piece0", "finished 0", "end "));
  disk_->FailWrites(absl::OkStatus(), absl::OkStatus(), absl::OkStatus());
  record->Commit();
  Await();
  EXPECT_TRUE(record->is_on_disk());
  EXPECT_EQ(record->description().message(), "");
}

TEST_F(RunRecordStorageTest, ARunThatEndsBadlySaysThatAndWhatIsMissing) {
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  auto record = MakeRecord();
  RunOneTest(*record, 0, 20);
  record->OnSequenceDone(absl::CancelledError("enough"));
  EXPECT_THAT(Read(record).back(),
              AllOf(HasSubstr("end enough; "), HasSubstr("of test 1")));
}

TEST_F(RunRecordStorageTest, AFailedSyncIsSaid) {
  disk_->FailWrites(absl::OkStatus(),
                    absl::ErrnoToStatus(EIO, "cannot write /x/run"),
                    absl::OkStatus());
  auto record = MakeRecord();
  RunOneTest(*record, 0, 1);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  EXPECT_FALSE(record->is_on_disk());
  EXPECT_THAT(record->description().message(),
              AllOf(HasSubstr("cannot write /x/run: Input/output error"),
                    HasSubstr("lost if the sequencer's host fails")));
  // The next sequencer must not rely on bytes that may be missing.
  EXPECT_FALSE(Saved().has_result_bytes());
}

TEST_F(RunRecordStorageTest, AFileThatIsDamagedEndsTheReadersStream) {
  auto record = MakeRecord();
  RunOneTest(*record, 0, 1);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  std::filesystem::resize_file(TestPath() + "/" + kRecordedRunId + ".result",
                               10);
  EXPECT_THAT(Read(record), ElementsAre("id", HasSubstr("is damaged at byte")));
}

}  // namespace
}  // namespace distbench::sequencer
