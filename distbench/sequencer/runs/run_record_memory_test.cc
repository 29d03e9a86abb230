// Runs whose results do not fit into memory, and followers that take nothing.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/sequencer/testing/run_book_testing.h"
#include "distbench/sequencer/testing/run_record_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

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
  EXPECT_THAT(
      Drain(Follow(old)),
      ElementsAre("id", AllOf(HasSubstr("end "), HasSubstr(kRecordedRunId),
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
    options.description.set_id(kRecordedRunId);
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
  options.description.set_id(kRecordedRunId);
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

}  // namespace
}  // namespace distbench::sequencer
