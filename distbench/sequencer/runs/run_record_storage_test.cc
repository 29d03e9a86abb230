// Tests RunRecord with a disk that is slow or fails.

#include <errno.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "distbench/sequencer/testing/gated_disk.h"
#include "distbench/sequencer/testing/run_book_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kId[] = "20260131-235959-000";
constexpr int64_t kPieceBytes = 300'000;

ResultChunk Piece(const std::string& instance) {
  ResultChunk chunk;
  chunk.set_instance(instance);
  chunk.mutable_instance_log()->set_engine_error_message(
      std::string(kPieceBytes, 'x'));
  return chunk;
}

class RunRecordStorageTest : public testing::Test {
 protected:
  RunRecordStorageTest() {
    std::filesystem::remove_all(path_);
    auto directory = RunDirectory::Open(path_);
    EXPECT_TRUE(directory.ok()) << directory.status();
    disk_ = std::make_shared<GatedDisk>(*std::move(directory));
    storage_ = std::make_unique<RunStorage>(disk_);
  }

  std::shared_ptr<RunRecord> MakeRecord() { return MakeRecord(memory_); }

  std::shared_ptr<RunRecord> MakeRecord(ResultMemory& memory) {
    RunRecord::Options options;
    options.description.set_id(kId);
    options.description.set_state(RunDescription::WAITING);
    options.description.add_test_names("first");
    options.description.add_test_names("second");
    options.storage = storage_.get();
    options.stall_timeout = stall_timeout_;
    options.last_stall_timeout = absl::Milliseconds(1);
    auto record =
        std::make_shared<RunRecord>(std::move(options), memory, clock_);
    record->Save();
    return record;
  }

  static void RunTest(RunRecord& record, int test_index, int pieces) {
    record.OnTestSetUp(test_index);
    record.OnTestStarted(test_index, TestStarted());
    for (int i = 0; i < pieces; ++i) {
      ASSERT_TRUE(
          record.OnResultChunk(test_index, Piece(absl::StrCat("piece", i)))
              .ok());
    }
    ASSERT_TRUE(record.OnTestFinished(test_index, TestResult()).ok());
  }

  // Returns the instances of the pieces that a new follower gets, and the end.
  static std::vector<std::string> Read(std::shared_ptr<RunRecord> record) {
    WaitingFollower follower(std::move(record));
    std::vector<std::string> words;
    while (true) {
      const RunNews news = follower.Next();
      if (!news.event.has_value()) {
        words.push_back(news.end.has_value()
                            ? absl::StrCat("end ", news.end->message())
                            : "nothing");
        return words;
      }
      if (news.event->has_result_chunk()) {
        words.push_back(news.event->result_chunk().instance());
      }
    }
  }

  void Await() { ASSERT_TRUE(storage_->AwaitIdle(absl::Minutes(1))); }

  RunDescription Saved() {
    Await();
    absl::StatusOr<RunDescription> saved = disk_->Load(kId);
    EXPECT_TRUE(saved.ok()) << saved.status();
    return saved.ok() ? *saved : RunDescription();
  }

  const std::string path_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
  base::FakeClock clock_;
  ResultMemory memory_{10 * kPieceBytes};
  ResultMemory no_memory_{0};
  absl::Duration stall_timeout_ = absl::Minutes(5);
  std::shared_ptr<GatedDisk> disk_;
  std::unique_ptr<RunStorage> storage_;
};

TEST_F(RunRecordStorageTest, SavesBeforeEachTestAndAfterIt) {
  auto record = MakeRecord();
  record->OnRunStarted();
  record->OnTestSetUp(0);
  EXPECT_EQ(Saved().current_test_index(), 0);
  EXPECT_EQ(Saved().state(), RunDescription::RUNNING);
  EXPECT_FALSE(Saved().has_result_bytes());
  RunTest(*record, 0, 1);
  const int64_t bytes = Saved().result_bytes();
  EXPECT_GT(bytes, kPieceBytes);
  record->OnTestSetUp(1);
  EXPECT_EQ(Saved().current_test_index(), 1);
  // A test that is running may never end.
  record->OnTestStarted(1, TestStarted());
  ASSERT_TRUE(record->OnResultChunk(1, Piece("piece")).ok());
  record->Save();
  EXPECT_EQ(Saved().result_bytes(), bytes);
  EXPECT_FALSE(record->is_on_disk());
  // No record is both in the file and in memory.
  EXPECT_EQ(memory_.used_bytes(), 0);
}

TEST_F(RunRecordStorageTest, FollowersReadWhatIsOnTheDisk) {
  auto record = MakeRecord();
  WaitingFollower early(record);
  RunTest(*record, 0, 10);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_EQ(early.Next().event->run_id(), kId);
  EXPECT_TRUE(early.Next().event->has_started());
  EXPECT_EQ(early.Next().event->result_chunk().instance(), "piece0");
  EXPECT_THAT(Read(record), SizeIs(11));
  EXPECT_EQ(Read(record).back(), "end ");
  EXPECT_TRUE(record->is_on_disk());
}

TEST_F(RunRecordStorageTest, TheIdIsSaidWhenTheDiskKnowsTheRun) {
  disk_->Close();
  auto record = MakeRecord();
  int news_count = 0;
  RunFollower follower(record, [&] { ++news_count; });
  ASSERT_TRUE(disk_->AwaitCall());
  EXPECT_FALSE(follower.Next().event.has_value());
  disk_->Open();
  Await();
  EXPECT_EQ(news_count, 1);
  EXPECT_EQ(follower.Next().event->run_id(), kId);
}

TEST_F(RunRecordStorageTest, ADiskThatTakesItsTimeHoldsNobodyUp) {
  auto record = MakeRecord();
  RunTest(*record, 0, 1);
  Await();
  disk_->Close();
  // Requests and readers of stored results do not wait.
  RunFollower late(record, [] {});
  EXPECT_TRUE(late.Next().event->has_run_id());
  EXPECT_FALSE(late.Next().event.has_value());
  ASSERT_TRUE(disk_->AwaitCall());
  EXPECT_EQ(record->description().id(), kId);
  EXPECT_FALSE(record->has_ended());
  EXPECT_FALSE(late.Next().event.has_value());
  // Nor does the run, except at the end of a test.
  record->OnTestSetUp(1);
  record->OnTestStarted(1, TestStarted());
  record->OnProgress(1, TrafficProgress());
  ASSERT_TRUE(record->OnResultChunk(1, Piece("piece")).ok());
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_FALSE(record->has_ended());
  disk_->Open();
  Await();
  EXPECT_TRUE(record->has_ended());
  EXPECT_TRUE(record->is_on_disk());
}

TEST_F(RunRecordStorageTest, WhatWaitsForTheDiskIsBounded) {
  auto record = MakeRecord(no_memory_);
  Await();
  disk_->Close();
  record->OnTestStarted(0, TestStarted());
  absl::Notification is_done;
  std::thread run([&] {
    for (int i = 0; i < 20; ++i) {
      record->OnResultChunk(0, Piece("piece")).IgnoreError();
      EXPECT_LE(no_memory_.used_bytes(), (1 << 20) + 2 * kPieceBytes);
    }
    is_done.Notify();
  });
  ASSERT_TRUE(disk_->AwaitCall());
  EXPECT_FALSE(is_done.HasBeenNotified());
  disk_->Open();
  run.join();
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Read(record), SizeIs(21));
}

TEST_F(RunRecordStorageTest, ARunThatIsCancelledDoesNotWaitForTheDisk) {
  stall_timeout_ = absl::InfiniteDuration();
  auto record = MakeRecord(no_memory_);
  Await();
  disk_->Close();
  std::thread run([&] { RunTest(*record, 0, 20); });
  ASSERT_TRUE(disk_->AwaitCall());
  EXPECT_TRUE(record->Cancel(absl::CancelledError("enough")).ok());
  run.join();
  record->OnSequenceDone(absl::CancelledError("enough"));
  disk_->Open();
  Await();
  EXPECT_THAT(record->description().message(),
              AllOf(HasSubstr("enough"), HasSubstr("--results_memory")));
  EXPECT_THAT(Read(record),
              ElementsAre(AllOf(HasSubstr("end enough; "),
                                HasSubstr("only summaries were kept"))));
}

TEST_F(RunRecordStorageTest, ATestEndsWhenItIsOnTheDisk) {
  auto record = MakeRecord();
  Await();
  disk_->Close();
  absl::Notification is_done;
  std::thread run([&] {
    RunTest(*record, 0, 1);
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
  RunTest(*record, 0, 1);
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
  EXPECT_THAT(Read(record), ElementsAre("piece0", "end "));
}

TEST_F(RunRecordStorageTest, AFullDiskIsSaidAndTheResultIsInMemory) {
  const absl::Status error = absl::ErrnoToStatus(ENOSPC, "cannot write /x/run");
  disk_->FailWrites(error, absl::OkStatus(), error);
  auto record = MakeRecord();
  RunTest(*record, 0, 1);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  EXPECT_FALSE(record->is_on_disk());
  EXPECT_EQ(record->description().state(), RunDescription::DONE);
  EXPECT_THAT(record->description().message(),
              AllOf(HasSubstr("cannot write /x/run: No space left on device"),
                    HasSubstr("kept in memory, until the sequencer ends")));
  EXPECT_THAT(Read(record), ElementsAre("piece0", "end "));
  // When there is room again, the disk gets everything.
  disk_->FailWrites(absl::OkStatus(), absl::OkStatus(), absl::OkStatus());
  record->Commit();
  Await();
  EXPECT_TRUE(record->is_on_disk());
  EXPECT_EQ(record->description().message(), "");
  EXPECT_THAT(Read(record), ElementsAre("piece0", "end "));
}

TEST_F(RunRecordStorageTest, ADiskThatFailsInTheMiddleLosesNothing) {
  auto record = MakeRecord();
  RunTest(*record, 0, 2);
  disk_->FailWrites(absl::ErrnoToStatus(EIO, "cannot write /x/run"),
                    absl::OkStatus(), absl::OkStatus());
  RunTest(*record, 1, 1);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Read(record), ElementsAre("piece0", "piece1", "piece0", "end "));
  EXPECT_THAT(record->description().message(),
              HasSubstr("cannot write /x/run: Input/output error"));
}

TEST_F(RunRecordStorageTest, WithoutRoomOnDiskOrInMemoryFollowersGetAll) {
  disk_->FailWrites(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"),
                    absl::OkStatus(), absl::OkStatus());
  auto record = MakeRecord(no_memory_);
  WaitingFollower early(record);
  std::thread run([&] {
    RunTest(*record, 0, 20);
    record->OnSequenceDone(absl::OkStatus());
  });
  int pieces = 0;
  RunNews news = early.Next();
  for (; news.event.has_value(); news = early.Next()) {
    if (news.event->has_result_chunk()) ++pieces;
  }
  run.join();
  EXPECT_EQ(pieces, 20);
  EXPECT_TRUE(news.end->ok()) << *news.end;
  EXPECT_THAT(Read(record).back(), HasSubstr("only summaries were kept"));
}

TEST_F(RunRecordStorageTest, AFailedSyncIsSaid) {
  disk_->FailWrites(absl::OkStatus(),
                    absl::ErrnoToStatus(EIO, "cannot write /x/run"),
                    absl::OkStatus());
  auto record = MakeRecord();
  RunTest(*record, 0, 1);
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
  RunTest(*record, 0, 1);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  std::filesystem::resize_file(path_ + "/" + kId + ".result", 100);
  EXPECT_THAT(Read(record), ElementsAre(HasSubstr("is damaged at byte")));
}

}  // namespace
}  // namespace distbench::sequencer
