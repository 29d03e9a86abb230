#include "distbench/sequencer/runs/run_record.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/sequencer/testing/waiting_follower.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr int64_t kPieceBytes = 1000;
constexpr char kId[] = "20260131-235959-000";

ResultChunk Piece(const std::string& instance) {
  ResultChunk chunk;
  chunk.set_instance(instance);
  chunk.mutable_instance_log()->set_engine_error_message(
      std::string(kPieceBytes, 'x'));
  return chunk;
}

TestResult ResultOf(const std::string& failure) {
  TestResult result;
  result.add_log_summary("summary");
  if (!failure.empty()) result.mutable_run_info()->set_failure(failure);
  return result;
}

// Describes an event in a word or two.
std::string Word(const RunTestsEvent& event) {
  switch (event.event_case()) {
    case RunTestsEvent::kRunId:
      return "id";
    case RunTestsEvent::kQueuePosition:
      return absl::StrCat("queue ", event.queue_position());
    case RunTestsEvent::kStarted:
      return absl::StrCat("started ", event.test_index());
    case RunTestsEvent::kProgress:
      return absl::StrCat("progress ", event.progress().succeeded_count());
    case RunTestsEvent::kResultChunk:
      return event.result_chunk().instance();
    case RunTestsEvent::kFinished:
      return absl::StrCat("finished ", event.test_index());
    case RunTestsEvent::EVENT_NOT_SET:
      break;
  }
  return "?";
}

// Returns everything that the follower can read now; at the end of the run, the
// last element is "end" with its message.
std::vector<std::string> Drain(RunFollower& follower) {
  std::vector<std::string> words;
  while (true) {
    const RunNews news = follower.Next();
    if (news.event.has_value()) {
      words.push_back(Word(*news.event));
    } else {
      if (news.end.has_value()) {
        words.push_back(absl::StrCat("end ", news.end->message()));
      }
      return words;
    }
  }
}

class RunRecordTest : public testing::Test {
 protected:
  std::shared_ptr<RunRecord> MakeRecord(RunStorage* storage = nullptr) {
    RunRecord::Options options;
    options.storage = storage;
    options.description.set_id(kId);
    options.description.set_state(RunDescription::WAITING);
    options.description.add_test_names("first");
    options.description.add_test_names("second");
    options.stop_at_failure = stop_at_failure_;
    options.on_ended = [this] { ++ended_count_; };
    options.stall_timeout = stall_timeout_;
    options.last_stall_timeout = absl::Milliseconds(10);
    return std::make_shared<RunRecord>(std::move(options), memory_, clock_);
  }

  static void RunOneTest(RunRecord& record, int test_index, int pieces,
                         const std::string& failure = "") {
    record.OnTestSetUp(test_index);
    record.OnTestStarted(test_index, TestStarted());
    for (int i = 0; i < pieces; ++i) {
      ASSERT_TRUE(
          record.OnResultChunk(test_index, Piece(absl::StrCat("piece", i)))
              .ok());
    }
    record.OnTestFinished(test_index, ResultOf(failure)).IgnoreError();
  }

  static void Progress(RunRecord& record, int64_t count) {
    TrafficProgress progress;
    progress.set_succeeded_count(count);
    record.OnProgress(0, progress);
  }

  RunFollower& Follow(std::shared_ptr<RunRecord> record) {
    followers_.push_back(
        std::make_unique<RunFollower>(record, [this] { ++news_count_; }));
    return *followers_.back();
  }

  FakeClock clock_;
  ResultMemory memory_{5 * kPieceBytes};
  bool stop_at_failure_ = false;
  absl::Duration stall_timeout_ = absl::Milliseconds(10);
  int ended_count_ = 0;
  int news_count_ = 0;
  std::vector<std::unique_ptr<RunFollower>> followers_;
};

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
  EXPECT_EQ(strict->OnTestFinished(1, ResultOf("lost")),
            absl::AbortedError("tests[1] failed: lost"));
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

TEST_F(RunRecordTest, OldResultsMakeRoomForNewOnes) {
  auto old = MakeRecord();
  RunOneTest(*old, 0, 4);
  old->OnSequenceDone(absl::OkStatus());
  memory_.AddDroppable(old, "me", 4 * kPieceBytes);
  auto recent = MakeRecord();
  RunOneTest(*recent, 0, 3);
  recent->OnSequenceDone(absl::OkStatus());

  EXPECT_THAT(old->description().message(), HasSubstr("--results_memory"));
  EXPECT_FALSE(old->description().has_result_bytes());
  EXPECT_THAT(Drain(Follow(old)),
              ElementsAre("id", AllOf(HasSubstr("end "), HasSubstr(kId),
                                      HasSubstr("--results_memory"))));
  EXPECT_EQ(recent->description().message(), "");
  EXPECT_LE(memory_.used_bytes(), memory_.limit_bytes());
  recent = nullptr;
  followers_.clear();
  EXPECT_EQ(memory_.used_bytes(), 0);
}

TEST_F(RunRecordTest, WithoutFollowersALargeResultKeepsItsSummaryAlone) {
  auto record = MakeRecord();
  RunOneTest(*record, 0, 20);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_LT(memory_.used_bytes(), memory_.limit_bytes() + kPieceBytes);
  EXPECT_THAT(record->description().message(),
              HasSubstr("only summaries were kept"));
  // There are no pieces that could be mistaken for the whole result.
  EXPECT_THAT(
      Drain(Follow(record)),
      ElementsAre("id", "finished 0",
                  AllOf(HasSubstr("end "), HasSubstr("--results_memory"),
                        HasSubstr("only summaries were kept of test 1"))));
}

// The number of pieces by test, and the end.
struct Received {
  std::map<int, int> pieces;
  std::optional<absl::Status> end;
};

// A follower that reads on its own thread, as fast as it can.
class BackgroundFollower {
 public:
  explicit BackgroundFollower(std::shared_ptr<RunRecord> record)
      : thread_([this, follower = std::make_shared<WaitingFollower>(record)] {
          while (true) {
            const RunNews news = follower->Next();
            if (!news.event.has_value()) {
              received_.end = news.end;
              return;
            }
            if (news.event->has_result_chunk()) {
              ++received_.pieces[news.event->test_index()];
            }
          }
        }) {}

  Received Finish() {
    thread_.join();
    return received_;
  }

 private:
  Received received_;
  std::thread thread_;
};

// The parameter is the size of the results' memory, which is less than a piece.
class TightMemoryTest : public RunRecordTest,
                        public testing::WithParamInterface<int64_t> {
 protected:
  TightMemoryTest() { stall_timeout_ = absl::Minutes(5); }
  ~TightMemoryTest() override { followers_.clear(); }  // before the memory

  ResultMemory tight_memory_{GetParam()};

  std::shared_ptr<RunRecord> MakeTightRecord() {
    RunRecord::Options options;
    options.description.set_id(kId);
    options.description.set_state(RunDescription::WAITING);
    options.stall_timeout = stall_timeout_;
    return std::make_shared<RunRecord>(std::move(options), tight_memory_,
                                       clock_);
  }
};

TEST_P(TightMemoryTest, FollowersGetAllOfEachTest) {
  constexpr int kTests = 5;
  constexpr int kPieces = 50;
  auto record = MakeTightRecord();
  BackgroundFollower one(record);
  BackgroundFollower other(record);
  for (int i = 0; i < kTests; ++i) RunOneTest(*record, i, kPieces);
  record->OnSequenceDone(absl::OkStatus());
  for (BackgroundFollower* follower : {&one, &other}) {
    const Received received = follower->Finish();
    ASSERT_TRUE(received.end.has_value());
    EXPECT_TRUE(received.end->ok()) << *received.end;
    EXPECT_THAT(received.pieces, ElementsAre(Pair(0, kPieces), Pair(1, kPieces),
                                             Pair(2, kPieces), Pair(3, kPieces),
                                             Pair(4, kPieces)));
  }
  // At most one piece too many.
  EXPECT_LE(tight_memory_.used_bytes(), GetParam() + 2 * kPieceBytes);
}

TEST_P(TightMemoryTest, AFollowerThatHasTakenAllNeverDelaysTheRun) {
  auto record = MakeTightRecord();
  RunFollower& follower = Follow(record);
  record->OnTestStarted(0, TestStarted());
  for (int i = 0; i < 20; ++i) {
    Drain(follower);
    ASSERT_TRUE(record->OnResultChunk(0, Piece("piece")).ok());
    EXPECT_THAT(Drain(follower), ElementsAre("piece"));
  }
}

TEST_P(TightMemoryTest, ALateFollowerIsToldWhatItHasMissed) {
  constexpr int kPieces = 20;
  auto record = MakeTightRecord();
  BackgroundFollower early(record);
  RunOneTest(*record, 0, kPieces);
  for (int i = 0; i < kPieces; ++i) {
    ASSERT_TRUE(record->OnResultChunk(1, Piece("piece")).ok());
  }
  BackgroundFollower late(record);
  for (int i = 0; i < kPieces; ++i) {
    ASSERT_TRUE(record->OnResultChunk(1, Piece("piece")).ok());
  }
  ASSERT_TRUE(record->OnTestFinished(1, ResultOf("")).ok());
  RunOneTest(*record, 2, kPieces);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_TRUE(early.Finish().end->ok());
  const Received received = late.Finish();
  // It gets either all pieces of a test or none.
  EXPECT_THAT(received.pieces, ElementsAre(Pair(2, kPieces)));
  EXPECT_EQ(received.end->code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(received.end->message()),
              HasSubstr("only summaries were kept of tests 1 to 2"));
}

TEST_P(TightMemoryTest, ARunThatEndsBadlySaysThatAndWhatIsMissing) {
  auto record = MakeTightRecord();
  RunOneTest(*record, 0, 20);
  record->OnSequenceDone(absl::CancelledError("enough"));
  EXPECT_THAT(Drain(Follow(record)).back(),
              AllOf(HasSubstr("end enough; "), HasSubstr("of test 1")));
}

TEST_P(TightMemoryTest, AFollowerThatGoesFreesTheRun) {
  auto record = MakeTightRecord();
  auto follower = std::make_unique<RunFollower>(record, [] {});
  absl::Notification is_done;
  std::thread run([&] {
    RunOneTest(*record, 0, 20);
    is_done.Notify();
  });
  // The run may already be waiting for the follower, or not yet.
  follower = nullptr;
  is_done.WaitForNotification();
  run.join();
}

TEST_P(TightMemoryTest, ARunThatIsCancelledWaitsForNobodyForLong) {
  RunRecord::Options options;
  options.description.set_id(kId);
  options.description.set_state(RunDescription::WAITING);
  options.stall_timeout = absl::InfiniteDuration();
  options.last_stall_timeout = absl::Milliseconds(1);
  auto record =
      std::make_shared<RunRecord>(std::move(options), tight_memory_, clock_);
  RunFollower& follower = Follow(record);
  std::thread run([&] { RunOneTest(*record, 0, 20); });
  EXPECT_TRUE(record->Cancel(absl::CancelledError("enough")).ok());
  run.join();
  record->OnSequenceDone(absl::CancelledError("enough"));
  EXPECT_TRUE(follower.is_cut_off());
}

TEST_P(TightMemoryTest, TheNextRunDropsNothingThatSomebodyIsTaking) {
  auto old = MakeTightRecord();
  RunFollower& follower = Follow(old);
  old->OnTestSetUp(0);
  old->OnTestStarted(0, TestStarted());
  EXPECT_THAT(Drain(follower), ElementsAre("id", "started 0"));
  ASSERT_TRUE(old->OnResultChunk(0, Piece("piece0")).ok());
  old->OnTestFinished(0, ResultOf("")).IgnoreError();
  old->OnSequenceDone(absl::OkStatus());
  tight_memory_.AddDroppable(old, "me", old->description().result_bytes());
  auto next = MakeTightRecord();
  BackgroundFollower reader(next);
  std::thread run([&] {
    RunOneTest(*next, 0, 5);
    next->OnSequenceDone(absl::OkStatus());
  });
  EXPECT_THAT(Drain(follower), ElementsAre("piece0", "finished 0", "end "));
  run.join();
  const Received received = reader.Finish();
  EXPECT_TRUE(received.end->ok()) << *received.end;
  EXPECT_THAT(received.pieces, ElementsAre(Pair(0, 5)));
  // New followers no longer get it.
  EXPECT_THAT(Drain(Follow(old)),
              ElementsAre("id", HasSubstr("was dropped to make room")));
}

INSTANTIATE_TEST_SUITE_P(Sizes, TightMemoryTest,
                         testing::Values(0, 1, kPieceBytes / 2));

TEST_F(RunRecordTest, AReaderOfAnotherRunThatTakesNothingIsCutOff) {
  auto old = MakeRecord();
  RunFollower& follower = Follow(old);
  RunOneTest(*old, 0, 4);
  old->OnSequenceDone(absl::OkStatus());
  memory_.AddDroppable(old, "me", 4 * kPieceBytes);
  auto next = MakeRecord();
  RunOneTest(*next, 0, 3);
  next->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(Drain(follower), ElementsAre(HasSubstr("was dropped")));
  EXPECT_THAT(Drain(Follow(next)), ElementsAre("id", "piece0", "piece1",
                                               "piece2", "finished 0", "end "));
}

TEST_F(RunRecordTest, AFollowerThatTakesNothingIsCutOff) {
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  RunOneTest(*record, 0, 20);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_TRUE(follower.is_cut_off());
  EXPECT_THAT(Drain(follower),
              ElementsAre(HasSubstr("the client took none of the results")));
  EXPECT_EQ(record->description().state(), RunDescription::DONE);
}

TEST_F(RunRecordTest, TheSequencersEndWaitsForNoFollower) {
  stall_timeout_ = absl::InfiniteDuration();
  auto record = MakeRecord();
  RunFollower& follower = Follow(record);
  std::thread run([&] {
    RunOneTest(*record, 0, 20);
    record->OnSequenceDone(absl::AbortedError("going"));
  });
  record->OnSequencerEnds();
  run.join();
  EXPECT_TRUE(follower.is_cut_off());
}

TEST_F(RunRecordTest, ARunThatHasEndedSaysHow) {
  RunRecord::Options options;
  options.description.set_id(kId);
  options.description.set_state(RunDescription::INTERRUPTED);
  options.description.set_message("in the middle of test 2");
  auto record = std::make_shared<RunRecord>(options, memory_, clock_);
  EXPECT_TRUE(record->has_ended());
  EXPECT_THAT(Drain(Follow(record)),
              ElementsAre("id", "end in the middle of test 2"));
}

}  // namespace
}  // namespace distbench
