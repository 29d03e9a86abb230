#include "distbench/sequencer/runs/run_record.h"

#include <memory>
#include <string>
#include <vector>

#include "distbench/sequencer/testing/run_record_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
  ASSERT_TRUE(record->OnResultChunk(0, Piece("piece")).ok());
  ASSERT_TRUE(record->OnTestFinished(0, ResultOf("")).ok());
  EXPECT_THAT(Drain(follower), ElementsAre("piece", "finished 0"));
  EXPECT_THAT(Drain(follower), IsEmpty());
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_EQ(ended_count_, 1);
  EXPECT_THAT(Drain(follower), ElementsAre("end "));
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
    EXPECT_EQ(record->description().state(), c.state) << c.status;
    EXPECT_EQ(record->description().message(), c.status.message());
  }
}

TEST_F(RunRecordTest, ARunThatWaitsWhenTheSequencerEndsIsCancelled) {
  auto record = MakeRecord();
  record->OnQueuePosition(1);
  record->OnSequencerEnds();
  record->OnSequenceDone(absl::AbortedError("the sequencer ends"));
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

TEST_F(RunRecordTest, CancelReachesTheRunUntilItHasEnded) {
  auto record = MakeRecord();
  std::string reason;
  record->SetCanceller([&](const absl::Status& status) {
    reason = std::string(status.message());
  });
  EXPECT_TRUE(record->Cancel(absl::CancelledError("enough")).ok());
  EXPECT_EQ(reason, "enough");
  record->OnSequenceDone(absl::CancelledError("enough"));
  EXPECT_EQ(record->Cancel(absl::CancelledError("again")).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(RunRecordTest, ARunThatHasEndedSaysHow) {
  RunRecord::Options options;
  options.description.set_id(kRecordedRunId);
  options.description.set_state(RunDescription::INTERRUPTED);
  options.description.set_message("in the middle of test 2");
  auto record = std::make_shared<RunRecord>(options, memory_, clock_);
  EXPECT_TRUE(record->has_ended());
  EXPECT_THAT(Drain(Follow(record)),
              ElementsAre("id", "end in the middle of test 2"));
}

}  // namespace
}  // namespace distbench::sequencer
