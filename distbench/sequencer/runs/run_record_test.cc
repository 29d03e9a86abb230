// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_record.h"

#include <errno.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "distbench/sequencer/runs/run_state.h"
#include "distbench/sequencer/testing/run_book_testing.h"
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

TEST_F(RunRecordTest, TellsAFollowerWhatHappens) {
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  EXPECT_THAT(Drain(follower), ElementsAre("id"));
  record->OnQueuePosition(3);
  EXPECT_EQ(news_count_, 1);
  EXPECT_THAT(Drain(follower), ElementsAre("queue 3"));
  record->OnRunStarted();
  record->OnTestStarted(0, TestStarted());
  Progress(*record, 7);
  EXPECT_THAT(Drain(follower), ElementsAre("started 0", "progress 7"));
  record->OnResultChunk(0, Piece("piece"));
  ASSERT_TRUE(record->OnTestFinished(0, ResultOf("")).ok());
  EXPECT_THAT(Drain(follower), ElementsAre("piece", "finished 0"));
  EXPECT_THAT(Drain(follower), IsEmpty());
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Drain(follower), ElementsAre("end "));
  EXPECT_EQ(ended_count_, 1);
}

TEST_F(RunRecordTest, NewsThatWasReplacedIsToldOnce) {
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  for (int ahead : {5, 4, 3}) record->OnQueuePosition(ahead);
  EXPECT_THAT(Drain(follower), ElementsAre("id", "queue 3"));
  record->OnQueuePosition(2);
  record->OnRunStarted();
  record->OnTestStarted(0, TestStarted());
  for (int count : {1, 2, 3}) Progress(*record, count);
  record->OnTestFinished(0, ResultOf("")).IgnoreError();
  // The run is no longer waiting, and progress comes before the test's end.
  EXPECT_THAT(Drain(follower),
              ElementsAre("started 0", "progress 3", "finished 0"));
}

TEST_F(RunRecordTest, AnyNumberFollowAtTheirOwnPace) {
  auto record = MakeRecord();
  RunFollower& early = Follow(record);
  record->OnRunStarted();
  RunOneTest(*record, 0, 1);
  EXPECT_THAT(Drain(early),
              ElementsAre("id", "started 0", "piece0", "finished 0"));
  record->OnTestStarted(1, TestStarted());
  // A later follower does not receive the starts of ended tests.
  RunFollower& late = Follow(record);
  EXPECT_THAT(Drain(late),
              ElementsAre("id", "piece0", "finished 0", "started 1"));
  record->OnTestFinished(1, ResultOf("")).IgnoreError();
  record->OnSequenceDone(absl::OkStatus());
  for (RunFollower* follower : {&early, &late}) {
    std::vector<std::string> words = Drain(*follower);
    EXPECT_THAT(std::vector<std::string>(words.end() - 2, words.end()),
                ElementsAre("finished 1", "end "));
  }
}

TEST_F(RunRecordTest, DescribesTheRunAtEachStage) {
  auto record = MakeRecord();
  record->OnQueuePosition(2);
  EXPECT_EQ(record->description().queue_position(), 2);
  clock_.Advance(5);
  record->OnRunStarted();
  RunOneTest(*record, 0, 1);
  record->OnTestSetUp(1);
  RunDescription run = record->description();
  EXPECT_EQ(run.state(), RunDescription::RUNNING);
  EXPECT_FALSE(run.has_queue_position());
  EXPECT_EQ(run.current_test_index(), 1);
  EXPECT_EQ(run.start_timestamp_ns(), clock_.UnixNs());
  EXPECT_GT(run.result_bytes(), kPieceBytes);
  clock_.Advance(5);
  record->OnTestFinished(1, ResultOf("")).IgnoreError();
  record->OnSequenceDone(absl::OkStatus());
  Await();
  run = record->description();
  EXPECT_EQ(run.state(), RunDescription::DONE);
  EXPECT_EQ(run.end_timestamp_ns(), clock_.UnixNs());
  EXPECT_EQ(run.message(), "");
}

TEST_F(RunRecordTest, FinalStateSaysHowItWent) {
  struct Case {
    std::string failure;
    absl::Status status;
    bool sequencer_ends;
    RunDescription::State state;
  };
  for (const Case& c : std::vector<Case>{
           {"", absl::OkStatus(), false, RunDescription::DONE},
           {"node1 was lost", absl::OkStatus(), false, RunDescription::FAILED},
           {"", absl::CancelledError("enough"), false,
            RunDescription::CANCELLED},
           {"", absl::FailedPreconditionError("no nodes"), false,
            RunDescription::FAILED},
           {"", absl::AbortedError("going"), true,
            RunDescription::INTERRUPTED}}) {
    auto record = MakeRecord();
    if (c.sequencer_ends) record->OnSequencerEnds();
    record->OnRunStarted();
    RunOneTest(*record, 0, 0, c.failure);
    record->OnSequenceDone(c.status);
    Await();
    EXPECT_EQ(record->description().state(), c.state) << c.status;
    EXPECT_EQ(record->description().message(), c.status.message());
  }
}

TEST_F(RunRecordTest, ARunThatRanToItsEndIsInvalidIfItsNumbersAreFalse) {
  for (const char* failure : {"", "node1 was lost"}) {
    auto record = MakeRecord();
    record->OnRunStarted();
    TestResult invalid = ResultOf("");
    invalid.mutable_run_info()->add_findings()->set_severity(Finding::INVALID);
    record->OnTestFinished(0, invalid).IgnoreError();
    record->OnTestFinished(1, ResultOf(failure)).IgnoreError();
    record->OnSequenceDone(absl::OkStatus());
    Await();
    const RunDescription run = record->description();
    EXPECT_EQ(run.state(), RunDescription::FAILED);
    EXPECT_EQ(run.is_invalid(), std::string(failure).empty()) << failure;
  }
}

TEST_F(RunRecordTest, ARefusedRunHasNotStarted) {
  for (const bool is_set_up : {false, true}) {
    auto record = MakeRecord();
    record->OnRunStarted();
    if (is_set_up) record->OnTestSetUp(0);
    record->OnSequenceDone(absl::FailedPreconditionError("no nodes"));
    Await();
    EXPECT_EQ(record->description().has_start_timestamp_ns(), is_set_up);
  }
}

// What clients of a later sequencer are told, and by which their exit status
// is 1 or 3.
TEST(EndOfTest, AFailedRunWasRefusedOnlyIfItHasNotStarted) {
  RunDescription run;
  run.set_state(RunDescription::FAILED);
  EXPECT_TRUE(EndOf(run).ok()) << "tests tell how they failed";
  run.set_message("needs 3 nodes, but there are 2");
  EXPECT_TRUE(absl::IsFailedPrecondition(EndOf(run))) << EndOf(run);
  run.set_message("the result of test 1 is lost");
  run.set_start_timestamp_ns(1);
  EXPECT_TRUE(absl::IsAborted(EndOf(run))) << EndOf(run);
}

TEST_F(RunRecordTest, ARunThatWaitsWhenTheSequencerEndsIsCancelled) {
  auto record = MakeRecord();
  record->OnQueuePosition(1);
  record->OnSequencerEnds();
  record->OnSequenceDone(absl::AbortedError("the sequencer ends"));
  Await();
  const RunDescription run = record->description();
  EXPECT_EQ(run.state(), RunDescription::CANCELLED);
  EXPECT_EQ(run.message(), "the sequencer ends");
  EXPECT_FALSE(run.has_queue_position());
  EXPECT_THAT(Drain(Follow(record)),
              ElementsAre("id", "end the sequencer ends"));
}

TEST_F(RunRecordTest, AFailedTestEndsTheRunIfThatIsWanted) {
  auto patient = MakeRecord();
  EXPECT_TRUE(patient->OnTestFinished(0, ResultOf("lost")).ok());
  stop_at_failure_ = true;
  auto strict = MakeRecord();
  EXPECT_TRUE(strict->OnTestFinished(0, ResultOf("")).ok());
  TestResult overload = ResultOf("Too many RPCs pending");
  overload.mutable_run_info()->set_overloaded(true);
  EXPECT_TRUE(strict->OnTestFinished(1, overload).ok());
  EXPECT_EQ(strict->OnTestFinished(2, ResultOf("lost")),
            absl::AbortedError("tests[2] failed: lost"));
}

TEST_F(RunRecordTest, ACancelThatComesBeforeTheCancellerIsNotLost) {
  auto record = MakeRecord();
  EXPECT_TRUE(record->Cancel(absl::CancelledError("enough")).ok());
  std::vector<std::string> reasons;
  record->SetCanceller([&](const absl::Status& reason) {
    reasons.push_back(std::string(reason.message()));
  });
  EXPECT_THAT(reasons, ElementsAre("enough"));
}

TEST_F(RunRecordTest, CancelReachesTheRunUntilItHasEnded) {
  auto record = MakeRecord();
  std::string reason;
  record->SetCanceller([&](const absl::Status& status) {
    reason = std::string(status.message());
  });
  EXPECT_TRUE(record->Cancel(absl::CancelledError("enough")).ok());
  EXPECT_EQ(reason, "enough");
  record->OnSequenceDone(absl::CancelledError("enough"));
  Await();
  EXPECT_EQ(record->Cancel(absl::CancelledError("again")).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(RunRecordTest, ARunThatHasEndedSaysHow) {
  RunRecord::Options options;
  options.storage = &storage_;
  options.description.set_id(kRecordedRunId);
  options.description.set_state(RunDescription::INTERRUPTED);
  options.description.set_message("in the middle of test 2");
  auto record = std::make_shared<RunRecord>(options, clock_);
  EXPECT_TRUE(record->has_ended());
  EXPECT_THAT(Drain(Follow(record)),
              ElementsAre("id", "end in the middle of test 2"));
}

TEST_F(RunRecordTest, AFollowerThatTakesNothingDelaysNobodyAndGetsAllLater) {
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  RunOneTest(*record, 0, 100);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  EXPECT_TRUE(record->has_ended());
  EXPECT_GT(record->temporary_bytes(), 100 * kPieceBytes);
  EXPECT_EQ(record->unwritten_bytes(), 0);
  // The id, the start, the end of the test and that of the run.
  EXPECT_THAT(Drain(follower), SizeIs(104));
}

TEST_F(RunRecordTest, FollowersReadWhileTheRunWrites) {
  constexpr int kPieces = 300;
  auto record = MakeRecord();
  std::vector<std::thread> threads;
  std::vector<int> pieces(2);
  for (int& count : pieces) {
    threads.emplace_back([&count, record] {
      WaitingFollower follower(record);
      while (auto event = follower.Next().event) {
        if (event->has_result_chunk()) ++count;
      }
    });
  }
  RunOneTest(*record, 0, kPieces);
  record->OnSequenceDone(absl::OkStatus());
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(pieces, ElementsAre(kPieces, kPieces));
}

TEST_F(RunRecordTest, ADroppedResultTakesNoRoomAndItsReadersAreTold) {
  auto record = MakeRecord();
  RunFollower& early = Follow(record);
  RunOneTest(*record, 0, 10);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  EXPECT_TRUE(early.Next().event->has_run_id());
  EXPECT_FALSE(early.is_given_up());
  storage_.Post([&](RunDisk&) { record->DropResult(); });
  Await();
  EXPECT_EQ(record->temporary_bytes(), 0);
  EXPECT_TRUE(early.is_given_up());
  const auto is_dropped =
      AllOf(HasSubstr("end run "), HasSubstr("was dropped to make room"),
            HasSubstr("--results_disk"));
  EXPECT_THAT(Drain(early), ElementsAre(is_dropped));
  EXPECT_THAT(Drain(Follow(record)), ElementsAre("id", is_dropped));
  EXPECT_THAT(record->description().message(), HasSubstr("was dropped"));
  EXPECT_FALSE(record->description().has_result_bytes());
}

TEST_F(RunRecordTest, ADropBetweenAReadAndItsAnswerDoesNoHarm) {
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  RunOneTest(*record, 0, 10);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  disk_->Close();
  record->Save();
  ASSERT_TRUE(disk_->AwaitCall());
  storage_.Post([&](RunDisk&) { record->DropResult(); });
  EXPECT_TRUE(follower.Next().event->has_run_id());
  EXPECT_FALSE(follower.Next().event.has_value());  // asks for records
  disk_->Open();
  EXPECT_THAT(Drain(follower), ElementsAre(HasSubstr("was dropped")));
}

TEST_F(RunRecordTest, WhoTakesNothingForLongDoesNotCountAsAFollower) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  stall_timeout_ = absl::Seconds(60);
  auto record = MakeRecord();
  EXPECT_FALSE(record->is_followed());
  RunFollower& follower = Follow(record);
  RunOneTest(*record, 0, 10);
  clock_.Advance(100 * kSecondNs);
  record->OnSequenceDone(absl::OkStatus());
  Await();
  // Until now there may have been nothing for it.
  EXPECT_TRUE(record->is_followed());
  clock_.Advance(59 * kSecondNs);
  EXPECT_TRUE(record->is_followed());
  EXPECT_TRUE(follower.Next().event.has_value());
  clock_.Advance(59 * kSecondNs);
  EXPECT_TRUE(record->is_followed());
  clock_.Advance(kSecondNs);
  EXPECT_FALSE(record->is_followed());
  EXPECT_THAT(Drain(follower), SizeIs(13));
}

TEST_F(RunRecordTest, AFullDiskOfTemporaryFilesLosesATestByName) {
  disk_->FailWrites(absl::ErrnoToStatus(ENOSPC, "cannot write /x"),
                    absl::OkStatus(), absl::OkStatus());
  auto record = MakeRecord();
  RunOneTest(*record, 0, 10);
  disk_->FailWrites(absl::OkStatus(), absl::OkStatus(), absl::OkStatus());
  RunOneTest(*record, 1, 1);
  record->OnSequenceDone(absl::OkStatus());
  const auto is_lost =
      AllOf(HasSubstr("the result of test 1 is lost: "),
            HasSubstr("cannot write /x: No space left on device"));
  EXPECT_THAT(Drain(Follow(record)),
              ElementsAre("id", "piece0", "finished 1", is_lost));
  EXPECT_THAT(record->description().message(), is_lost);
  EXPECT_EQ(record->description().state(), RunDescription::FAILED);
}

// Its start is lost, too: nobody could tell how long it has run.
TEST_F(RunRecordTest, ProgressOfATestThatIsLostIsNotTold) {
  disk_->FailWrites(absl::ErrnoToStatus(ENOSPC, "cannot write /x"),
                    absl::OkStatus(), absl::OkStatus());
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  record->OnTestSetUp(0);
  record->OnTestStarted(0, {});
  record->OnProgress(0, {});
  Await();
  record->OnProgress(0, {});
  EXPECT_TRUE(follower.Next().event->has_run_id());
  EXPECT_FALSE(follower.Next().event.has_value());
}

}  // namespace
}  // namespace distbench::sequencer
