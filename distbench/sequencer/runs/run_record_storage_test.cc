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
using ::testing::IsEmpty;
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
  EXPECT_EQ(record->kept_bytes(), 0);
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
      EXPECT_LE(record->kept_bytes(), 6 * kPieceBytes);
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
              AllOf(HasSubstr("enough"), HasSubstr("the disk took none"),
                    HasSubstr("--results_memory")));
  EXPECT_THAT(Read(record),
              ElementsAre("id", "finished 0",
                          AllOf(HasSubstr("end enough; "),
                                HasSubstr("only summaries were kept"))));
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

TEST_F(RunRecordStorageTest, AFullDiskIsSaidAndTheResultIsInMemory) {
  const absl::Status error = absl::ErrnoToStatus(ENOSPC, "cannot write /x/run");
  disk_->FailWrites(error, absl::OkStatus(), error);
  auto record = MakeRecord();
  RunOneTest(*record, 0, 1);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  EXPECT_FALSE(record->is_on_disk());
  EXPECT_EQ(record->description().state(), RunDescription::DONE);
  EXPECT_THAT(record->description().message(),
              AllOf(HasSubstr("cannot write /x/run: No space left on device"),
                    HasSubstr("kept in memory, until the sequencer ends")));
  EXPECT_THAT(Read(record), ElementsAre("id", "piece0", "finished 0", "end "));
  // When there is room again, the disk gets everything.
  disk_->FailWrites(absl::OkStatus(), absl::OkStatus(), absl::OkStatus());
  record->Commit();
  Await();
  EXPECT_TRUE(record->is_on_disk());
  EXPECT_EQ(record->description().message(), "");
  EXPECT_THAT(Read(record), ElementsAre("id", "piece0", "finished 0", "end "));
}

TEST_F(RunRecordStorageTest, ADiskThatFailsInTheMiddleLosesNothing) {
  room_bytes_ = 20 * kPieceBytes;
  auto record = MakeRecord();
  RunOneTest(*record, 0, 2);
  FailAppends(absl::ErrnoToStatus(EIO, "cannot write /x/run"));
  RunOneTest(*record, 1, 10);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Read(record), SizeIs(1 + 3 + 11 + 1));
  EXPECT_EQ(Read(record).back(), "end ");
  EXPECT_THAT(record->description().message(),
              HasSubstr("cannot write /x/run: Input/output error"));
}

TEST_F(RunRecordStorageTest, WithoutRoomOnDiskOrInMemorySummariesAreKept) {
  room_bytes_ = 4 * kPieceBytes;
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  auto record = MakeRecord();
  record->OnTestStarted(0, TestStarted());
  RunFollower& waiting = Follow(record);
  RunFollower& reading = Follow(record);
  record->OnResultChunk(0, Piece("piece0"));
  EXPECT_THAT(Drain(reading), ElementsAre("id", "started 0", "piece0"));
  for (int i = 1; i < 20; ++i) {
    record->OnResultChunk(0, Piece("piece"));
    Await();
  }
  EXPECT_LT(record->kept_bytes(), room_bytes_);
  ASSERT_TRUE(record->OnTestFinished(0, ResultOf("")).ok());
  // There is room again for the second test.
  RunOneTest(*record, 1, 1);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  const auto is_missing =
      AllOf(HasSubstr("end run "), HasSubstr("--results_memory"),
            HasSubstr("only summaries were kept of test 1"));
  // Nobody gets a part of a test's pieces and then its end.
  EXPECT_THAT(Drain(reading),
              ElementsAre("started 1", "piece0", "finished 1", is_missing));
  EXPECT_THAT(Drain(waiting),
              ElementsAre("id", "started 0", "finished 0", "started 1",
                          "piece0", "finished 1", is_missing));
  EXPECT_THAT(Read(record), ElementsAre("id", "finished 0", "piece0",
                                        "finished 1", is_missing));
  EXPECT_THAT(record->description().message(),
              AllOf(HasSubstr("cannot write /x/run: No space left on device; "),
                    HasSubstr("only summaries were kept")));
  EXPECT_FALSE(record->is_on_disk());
  // What is on the disk is complete, and no later test is taken for an earlier.
  EXPECT_FALSE(Saved().has_result_bytes());
  EXPECT_THAT(Saved().message(), HasSubstr("only summaries were kept"));
}

TEST_F(RunRecordStorageTest, WhoHasAllPiecesOfATestGetsItsEnd) {
  room_bytes_ = 4 * kPieceBytes;
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  auto record = MakeRecord();
  record->OnTestStarted(0, TestStarted());
  RunFollower& quick = Follow(record);
  RunFollower& slow = Follow(record);
  record->OnResultChunk(0, Piece("piece0"));
  EXPECT_THAT(Drain(slow), ElementsAre("id", "started 0", "piece0"));
  record->OnResultChunk(0, Piece("piece1"));
  EXPECT_THAT(Drain(quick), ElementsAre("id", "started 0", "piece0", "piece1"));
  ASSERT_TRUE(record->OnTestFinished(0, ResultOf("")).ok());
  // There is no room for the second test, nor any more for the first.
  RunOneTest(*record, 1, 20);
  record->OnSequenceDone(absl::OkStatus());
  const auto is_missing = HasSubstr("only summaries were kept of tests 1 to 2");
  EXPECT_THAT(Drain(quick),
              ElementsAre("finished 0", "started 1", "finished 1", is_missing));
  EXPECT_THAT(Drain(slow), ElementsAre("started 1", "finished 1", is_missing));
}

TEST_F(RunRecordStorageTest, WhoHasAllPiecesButThoseThatWereRefusedGetsNoEnd) {
  room_bytes_ = 4 * kPieceBytes;
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  auto record = MakeRecord();
  RunFollower& quick = Follow(record);
  std::vector<std::string> words;
  record->OnTestStarted(0, TestStarted());
  for (int i = 0; i < 20; ++i) {
    record->OnResultChunk(0, Piece("piece"));
    for (std::string& word : Drain(quick)) words.push_back(std::move(word));
  }
  EXPECT_EQ(words.back(), "piece");
  EXPECT_LT(words.size(), 20);
  ASSERT_TRUE(record->OnTestFinished(0, ResultOf("")).ok());
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Drain(quick), ElementsAre(HasSubstr("were kept of test 1")));
}

TEST_F(RunRecordStorageTest, ADiskThatTakesPiecesAgainLosesNoneOfThem) {
  auto record = MakeRecord();
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  on_room_wanted_ = [&] {
    FailAppends(absl::OkStatus());
    record->Commit();
    Await();
  };
  RunOneTest(*record, 0, 20);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Read(record), SizeIs(1 + 20 + 1 + 1));
  EXPECT_EQ(Read(record).back(), "end ");
  EXPECT_EQ(record->description().message(), "");
  EXPECT_TRUE(record->is_on_disk());
}

// A result with a sample of so many bytes and a few more.
TestResult ResultWithSample(int64_t bytes) {
  TestResult result;
  NodeResources& resources = (*result.mutable_resource_usage_logs()
                                   ->mutable_node_resources())["node0"];
  (*resources.add_samples()->mutable_network())[std::string(bytes, 'x')];
  return result;
}

TEST_F(RunRecordStorageTest, WithoutRoomTheEndOfATestHasNoSamples) {
  room_bytes_ = 4 * kPieceBytes;
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  EXPECT_TRUE(follower.Next().event->has_run_id());
  for (int i = 0; i < 5; ++i) {
    record->OnTestFinished(i, ResultWithSample(3 * kPieceBytes)).IgnoreError();
  }
  EXPECT_LT(record->kept_bytes(), 5 * kPieceBytes);
  const TestResult first = follower.Next().event->finished();
  EXPECT_THAT(
      first.resource_usage_logs().node_resources().at("node0").samples(),
      SizeIs(1));
  EXPECT_THAT(first.run_info().findings(), IsEmpty());
  const TestResult second = follower.Next().event->finished();
  EXPECT_THAT(
      second.resource_usage_logs().node_resources().at("node0").samples(),
      IsEmpty());
  ASSERT_THAT(second.run_info().findings(), SizeIs(1));
  EXPECT_EQ(second.run_info().findings(0).code(), "resources_dropped");
  // Nobody misses a piece.
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_EQ(Drain(follower).back(), "end ");
}

TEST_F(RunRecordStorageTest, TestsThatAreInTheFileLackNothing) {
  auto record = MakeRecord();
  RunOneTest(*record, 0, 3);
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  RunOneTest(*record, 1, 10);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Read(record),
              ElementsAre("id", "piece0", "piece1", "piece2", "finished 0",
                          "finished 1", HasSubstr("were kept of test 2")));
}

TEST_F(RunRecordStorageTest, ALaterProcessGetsWholeTestsAndIsToldWhatIsLost) {
  room_bytes_ = 20 * kPieceBytes;
  auto record = MakeRecord();
  RunOneTest(*record, 0, 1);
  const int64_t bytes = Saved().result_bytes();
  // The file has a part of the second test.
  record->OnTestStarted(1, TestStarted());
  for (int i = 0; i < 5; ++i) record->OnResultChunk(1, Piece("piece"));
  Await();
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  record->OnResultChunk(1, Piece("piece"));
  record->OnTestFinished(1, ResultOf("")).IgnoreError();
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Read(record).back(), "end ");
  const RunDescription saved = Saved();
  EXPECT_EQ(saved.result_bytes(), bytes);
  EXPECT_GT(
      std::filesystem::file_size(TestPath() + "/" + kRecordedRunId + ".result"),
      bytes + kPieceBytes);
  EXPECT_THAT(Read(Open(saved)),
              ElementsAre("id", "piece0", "finished 0",
                          AllOf(HasSubstr("end run "),
                                HasSubstr("No space left on device; only the "
                                          "sequencer that ran it had"))));
}

TEST_F(RunRecordStorageTest, ARunThatIsRunningSaysWhatOnlyMemoryHas) {
  room_bytes_ = 20 * kPieceBytes;
  auto record = MakeRecord();
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  RunOneTest(*record, 0, 1);
  EXPECT_THAT(record->description().message(),
              HasSubstr("kept in memory, until the"));
  EXPECT_THAT(Saved().message(), HasSubstr("only the sequencer that ran it"));
  FailAppends(absl::OkStatus());
  RunOneTest(*record, 1, 1);
  EXPECT_EQ(Saved().message(), "");
}

TEST_F(RunRecordStorageTest, ARunThatEndsBadlySaysThatAndWhatIsMissing) {
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  stall_timeout_ = absl::Milliseconds(10);
  auto record = MakeRecord();
  RunOneTest(*record, 0, 20);
  record->OnSequenceDone(absl::CancelledError("enough"));
  EXPECT_THAT(Read(record).back(),
              AllOf(HasSubstr("end enough; "), HasSubstr("of test 1")));
}

TEST_F(RunRecordStorageTest, ARecordWithoutResultIsSavedAsItEnded) {
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  auto record = MakeRecord();
  RunOneTest(*record, 0, 1);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  std::shared_ptr<RunRecord> replacement = record->WithoutResult();
  EXPECT_EQ(replacement->kept_bytes(), 0);
  EXPECT_FALSE(replacement->description().has_result_bytes());
  EXPECT_THAT(Read(replacement),
              ElementsAre("id", HasSubstr("was dropped to make room")));
  EXPECT_FALSE(replacement->is_on_disk());
  replacement->Save();
  EXPECT_EQ(Saved().state(), RunDescription::DONE);
  EXPECT_THAT(Saved().message(), HasSubstr("was dropped to make room"));
  // There is nothing that would be lost.
  EXPECT_TRUE(replacement->is_on_disk());
}

TEST_F(RunRecordStorageTest, ARecordThatWasReplacedIsNotSavedAnyMore) {
  FailAppends(absl::ErrnoToStatus(ENOSPC, "cannot write /x/run"));
  auto record = MakeRecord();
  RunOneTest(*record, 0, 1);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  std::shared_ptr<RunRecord> replacement = record->WithoutResult();
  replacement->Save();
  FailAppends(absl::OkStatus());
  record->Commit();
  EXPECT_FALSE(Saved().has_result_bytes());
  EXPECT_THAT(Saved().message(), HasSubstr("was dropped to make room"));
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
