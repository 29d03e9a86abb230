// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_book.h"

#include <errno.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/testing/gated_disk.h"
#include "distbench/sequencer/testing/run_book_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr int64_t kSecondNs = 1'000'000'000;

TEST(RunIdTest, SaysWhenTheRunWasSubmitted) {
  base::FakeClock clock(0, 1'780'000'000 * kSecondNs);
  RunIds ids(clock);
  EXPECT_EQ(ids.Next(), "20260528-202640-000");
  EXPECT_EQ(ids.Next(), "20260528-202640-001");
  clock.Advance(kSecondNs);
  EXPECT_EQ(ids.Next(), "20260528-202641-000");
}

TEST(RunIdTest, EachSortsAfterTheOneBefore) {
  base::FakeClock clock(5000 * kSecondNs);
  RunIds ids(clock);
  std::string last;
  for (int i = 0; i < 3000; ++i) {
    if (i == 1500) clock.SetMonotonicNs(0);  // the clock is set back
    const std::string id = ids.Next();
    EXPECT_GT(id, last);
    EXPECT_TRUE(IsRunId(id)) << id;
    last = id;
  }
}

TEST(RunIdTest, FollowsTheIdsOfAnEarlierLife) {
  base::FakeClock clock(0, 1'780'000'000 * kSecondNs);
  RunIds ids(clock);
  ids.Follow("20260528-202640-041");
  ids.Follow("20250528-202640-500");
  EXPECT_EQ(ids.Next(), "20260528-202640-042");
  ids.Follow("20991399-999999-000");
  EXPECT_EQ(ids.Next(), "20260528-202640-043");
}

TEST(RunIdTest, DoesNotFollowIdsOfTheFarFuture) {
  base::FakeClock clock(0, 1'780'000'000 * kSecondNs);
  RunIds ids(clock);
  ids.Follow("99991231-235959-999");
  ids.Follow("20260529-202641-000");  // a second more than a day ahead
  EXPECT_EQ(ids.Next(), "20260528-202640-000");
  ids.Follow("20260529-202640-999");
  EXPECT_EQ(ids.Next(), "20260529-202641-000");
}

TEST(RunIdTest, NothingElseIsAnId) {
  EXPECT_TRUE(IsRunId("20260528-202640-041"));
  for (const char* text :
       {"", ".", "..", "20260528-202640", "20260528-202640-0411",
        "20260528-202640-04a", "20260528/202640-041", "20260528-202640-04 ",
        "../0528-202640-041"}) {
    EXPECT_FALSE(IsRunId(text)) << text;
  }
}

// Returns the states, oldest run first.
std::vector<RunDescription::State> States(const RunBook& book) {
  std::vector<RunDescription::State> states;
  for (const RunDescription& run : ListRuns(book)) {
    states.push_back(run.state());
  }
  return states;
}

class RunBookTest : public testing::Test {
 protected:
  RunBookTest() {
    std::filesystem::remove_all(path_);
    for (const char* name : {"first", "second"}) {
      tests_.add_tests()->set_name(name);
    }
  }

  std::unique_ptr<RunBook> MakeBook(bool with_directory) {
    auto book = std::make_unique<RunBook>(limits_, clock_);
    if (with_directory) {
      const absl::Status status = book->OpenDirectory(path_);
      EXPECT_TRUE(status.ok()) << status;
    }
    return book;
  }

  std::shared_ptr<GatedDisk> OpenGatedDisk() const {
    auto directory = RunDirectory::Open(path_);
    EXPECT_TRUE(directory.ok()) << directory.status();
    return std::make_shared<GatedDisk>(*std::move(directory));
  }

  std::shared_ptr<RunRecord> Add(RunBook& book,
                                 const std::string& client = "me") {
    auto record =
        book.Add({.tests = tests_, .label = "nightly", .client = client});
    EXPECT_TRUE(record.ok()) << record.status();
    return *std::move(record);
  }

  static void Await(const RunBook& book) {
    EXPECT_TRUE(book.AwaitStored(absl::Minutes(1)));
  }

  static void RunFirstTest(RunRecord& record) {
    record.OnRunStarted();
    record.OnTestSetUp(0);
    ResultChunk chunk;
    chunk.set_instance("piece");
    record.OnResultChunk(0, chunk);
    ASSERT_TRUE(record.OnTestFinished(0, TestResult()).ok());
    record.OnTestSetUp(1);
  }

  // A run that has ended, and whose result has so many bytes and a few more.
  std::shared_ptr<RunRecord> AddEnded(RunBook& book, int64_t bytes,
                                      const std::string& client = "me") {
    auto record = Add(book, client);
    ResultChunk chunk;
    chunk.mutable_instance_log()->set_engine_error_message(
        std::string(bytes, 'x'));
    record->OnResultChunk(0, chunk);
    EXPECT_TRUE(record->OnTestFinished(0, TestResult()).ok());
    record->OnSequenceDone(absl::OkStatus());
    Await(book);
    return record;
  }

  // What the listing says of each run.
  static std::vector<std::string> Messages(const RunBook& book) {
    std::vector<std::string> messages;
    for (const RunDescription& run : ListRuns(book)) {
      messages.push_back(run.message());
    }
    return messages;
  }

  // The end that a new follower of the run receives.
  static absl::Status End(std::shared_ptr<RunRecord> record) {
    WaitingFollower follower(std::move(record));
    RunNews news = follower.Next();
    while (news.event.has_value()) news = follower.Next();
    return news.end.value_or(absl::UnknownError("nothing"));
  }

  // Returns the kinds of events that a new follower of the run receives.
  static std::vector<RunTestsEvent::EventCase> Events(
      std::shared_ptr<RunRecord> record) {
    WaitingFollower follower(std::move(record));
    std::vector<RunTestsEvent::EventCase> kinds;
    while (auto event = follower.Next().event) {
      kinds.push_back(event->event_case());
    }
    return kinds;
  }

  const std::string path_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
  base::FakeClock clock_;
  RunLimits limits_;
  TestSequence tests_;
};

TEST_F(RunBookTest, RunsAreKnownFromTheirSubmissionOn) {
  auto book = MakeBook(false);
  auto first = Add(*book);
  auto second = Add(*book, "you");
  RunFirstTest(*first);
  const std::vector<RunDescription> runs = ListRuns(*book);
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].state(), RunDescription::RUNNING);
  EXPECT_THAT(runs[0].test_names(), ElementsAre("first", "second"));
  EXPECT_EQ(runs[0].label(), "nightly");
  EXPECT_EQ(runs[1].client(), "you");
  EXPECT_GT(runs[1].id(), runs[0].id());
  EXPECT_EQ(*FindRun(*book, runs[1].id()), second);
}

TEST_F(RunBookTest, WhatEndedIsInAFileWithoutADirectory) {
  auto book = MakeBook(false);
  auto record = Add(*book);
  RunFirstTest(*record);
  record->OnSequenceDone(absl::OkStatus());
  EXPECT_THAT(States(*book), ElementsAre(RunDescription::DONE));
  EXPECT_THAT(Events(*FindRun(*book, record->id())),
              ElementsAre(RunTestsEvent::kRunId, RunTestsEvent::kResultChunk,
                          RunTestsEvent::kFinished));
}

TEST_F(RunBookTest, SoManyRunsAreRememberedWithoutADirectory) {
  limits_.ended = 2;
  auto book = MakeBook(false);
  std::string last;
  for (int i = 0; i < 5; ++i) {
    auto record = Add(*book);
    last = record->id();
    record->OnSequenceDone(absl::OkStatus());
  }
  const std::vector<RunDescription> runs = ListRuns(*book);
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[1].id(), last);
}

TEST_F(RunBookTest, AnInterruptedRunMayNotSayInWhichTest) {
  for (const char* index : {"-1", "2", "2147483647"}) {
    std::filesystem::create_directory(path_);
    std::ofstream(path_ + "/20260131-235959-000.run")
        << "state: RUNNING test_names: 'first' current_test_index: " << index;
    auto book = MakeBook(true);
    ASSERT_THAT(book->interrupted_runs(), SizeIs(1)) << index;
    EXPECT_EQ(book->interrupted_runs()[0].message(),
              "the test sequencer ended in the middle of this run");
  }
}

TEST_F(RunBookTest, AnInterruptedRunSaysWhatItsResultLacks) {
  std::filesystem::create_directory(path_);
  std::ofstream(path_ + "/20260131-235959-000.run")
      << "state: RUNNING test_names: 'first' message: 'half is lost'";
  auto book = MakeBook(true);
  EXPECT_THAT(Messages(*book),
              ElementsAre("the test sequencer ended in the middle of test 1 of "
                          "1, first; half is lost"));
}

TEST_F(RunBookTest, CountsHowRunsEnded) {
  limits_.ended = 1;
  auto book = MakeBook(false);
  EXPECT_THAT(book->ended_counts(), IsEmpty());
  for (int i = 0; i < 3; ++i) Add(*book)->OnSequenceDone(absl::OkStatus());
  Add(*book)->OnSequenceDone(absl::FailedPreconditionError("no nodes"));
  Add(*book)->OnSequenceDone(absl::CancelledError("on request"));
  Add(*book);  // waits
  Await(*book);
  // Counts include forgotten runs.
  EXPECT_THAT(book->ended_counts(),
              ElementsAre(Pair(RunDescription::DONE, 3),
                          Pair(RunDescription::FAILED, 1),
                          Pair(RunDescription::CANCELLED, 1)));
}

TEST_F(RunBookTest, CountsWhatAnEarlierSequencerLeftAsInterrupted) {
  {
    auto book = MakeBook(true);
    Add(*book)->OnSequenceDone(absl::OkStatus());
    RunFirstTest(*Add(*book));
  }
  EXPECT_THAT(MakeBook(true)->ended_counts(),
              ElementsAre(Pair(RunDescription::INTERRUPTED, 1)));
  EXPECT_THAT(MakeBook(true)->ended_counts(), IsEmpty());
}

TEST_F(RunBookTest, ManyRunsOfOneClientDoNotPushOutThoseOfOthers) {
  limits_.ended = 3;
  auto book = MakeBook(false);
  for (const char* client : {"you", "me", "me", "me", "me"}) {
    Add(*book, client)->OnSequenceDone(absl::OkStatus());
  }
  std::vector<std::string> clients;
  for (const RunDescription& run : ListRuns(*book)) {
    clients.push_back(run.client());
  }
  EXPECT_THAT(clients, ElementsAre("you", "me", "me"));
}

TEST_F(RunBookTest, OldResultsMakeRoomForNewOnesAndNoMoreThanTheyMust) {
  limits_.disk_bytes = 1000;
  auto book = MakeBook(false);
  const std::string old = AddEnded(*book, 400)->id();
  AddEnded(*book, 400);
  EXPECT_THAT(Messages(*book), ElementsAre("", ""));
  const std::string recent = AddEnded(*book, 300)->id();
  EXPECT_THAT(Messages(*book),
              ElementsAre(AllOf(HasSubstr("was dropped to make room"),
                                HasSubstr("--results_disk")),
                          "", ""));
  EXPECT_FALSE(ListRuns(*book)[0].has_result_bytes());
  EXPECT_THAT(Events(*FindRun(*book, old)), ElementsAre(RunTestsEvent::kRunId));
  const absl::Status end = End(*FindRun(*book, old));
  EXPECT_EQ(end.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(base::Message(end),
              AllOf(HasSubstr(old), HasSubstr("--results_disk")));
  EXPECT_THAT(Events(*FindRun(*book, recent)), SizeIs(3));
}

TEST_F(RunBookTest, NobodyPushesOutWhatTakesLessThanHisOwn) {
  limits_.disk_bytes = 1000;
  auto book = MakeBook(false);
  AddEnded(*book, 200, "you");
  for (int i = 0; i < 4; ++i) AddEnded(*book, 300);
  const auto is_dropped = HasSubstr("was dropped");
  EXPECT_THAT(Messages(*book), ElementsAre("", is_dropped, is_dropped, "", ""));
}

TEST_F(RunBookTest, TheLatestResultIsKeptWhateverItsSize) {
  limits_.disk_bytes = 1000;
  auto book = MakeBook(false);
  AddEnded(*book, 400);
  const std::string large = AddEnded(*book, 5000)->id();
  const auto is_dropped = HasSubstr("was dropped");
  EXPECT_THAT(Messages(*book), ElementsAre(is_dropped, ""));
  EXPECT_THAT(Events(*FindRun(*book, large)), SizeIs(3));
  AddEnded(*book, 400);
  EXPECT_THAT(Messages(*book), ElementsAre(is_dropped, is_dropped, ""));
  EXPECT_EQ(End(*FindRun(*book, large)).code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(RunBookTest, AResultThatIsReadGoesAfterThoseThatAreNot) {
  limits_.disk_bytes = 1000;
  auto book = MakeBook(false);
  WaitingFollower follower(AddEnded(*book, 600));
  EXPECT_TRUE(follower.Next().event->has_run_id());
  AddEnded(*book, 600, "you");
  AddEnded(*book, 300, "them");
  EXPECT_THAT(Messages(*book), ElementsAre("", HasSubstr("was dropped"), ""));
  EXPECT_TRUE(follower.Next().event->has_result_chunk());
}

TEST_F(RunBookTest, AReaderThatTakesNothingKeepsNothing) {
  limits_.disk_bytes = 1000;
  auto book = MakeBook(false);
  WaitingFollower stalled(AddEnded(*book, 600, "you"));
  EXPECT_TRUE(stalled.Next().event->has_run_id());
  clock_.Advance(60 * kSecondNs);
  AddEnded(*book, 600);
  EXPECT_THAT(Messages(*book), ElementsAre(HasSubstr("was dropped"), ""));
  EXPECT_EQ(stalled.Next().end->code(), absl::StatusCode::kDataLoss);
}

TEST_F(RunBookTest, AClientThatReadsManyResultsKeepsOnlyTheLast) {
  limits_.disk_bytes = 100'000;
  auto book = MakeBook(false);
  std::vector<std::shared_ptr<RunRecord>> records;
  std::vector<std::unique_ptr<WaitingFollower>> followers;
  for (int i = 0; i < 20; ++i) {
    records.push_back(AddEnded(*book, 40'000));
    followers.push_back(std::make_unique<WaitingFollower>(records.back()));
    EXPECT_TRUE(followers.back()->Next().event->has_run_id());
  }
  int64_t bytes = 0;
  for (const auto& record : records) bytes += record->temporary_bytes();
  EXPECT_LE(bytes, limits_.disk_bytes);
  EXPECT_GT(bytes, limits_.disk_bytes / 2);
  EXPECT_EQ(followers.front()->Next().end->code(),
            absl::StatusCode::kDataLoss);
  EXPECT_TRUE(followers.back()->Next().event->has_result_chunk());
}

TEST_F(RunBookTest, WithoutAnyRoomFollowersGetAll) {
  limits_.disk_bytes = 0;
  auto book = MakeBook(false);
  auto record = Add(*book);
  WaitingFollower follower(record);
  RunFirstTest(*record);
  record->OnSequenceDone(absl::OkStatus());
  const std::string id = record->id();
  record = nullptr;
  Await(*book);
  AddEnded(*book, 100);
  EXPECT_EQ(follower.Next().event->run_id(), id);
  EXPECT_TRUE(follower.Next().event->has_result_chunk());
  EXPECT_TRUE(follower.Next().event->has_finished());
  EXPECT_TRUE(follower.Next().end->ok());
}

TEST_F(RunBookTest, TheFileOfAForgottenRunIsClosed) {
  limits_.ended = 1;
  auto book = MakeBook(false);
  auto first = AddEnded(*book, 100);
  EXPECT_GT(first->temporary_bytes(), 100);
  AddEnded(*book, 100);
  EXPECT_EQ(first->temporary_bytes(), 0);
}

TEST_F(RunBookTest, LargeResultsAreInFilesWithoutADirectory) {
  constexpr int64_t kBytes = 3 << 20;
  auto book = MakeBook(false);
  auto record = AddEnded(*book, kBytes);
  EXPECT_GT(ListRuns(*book)[0].result_bytes(), kBytes);
  EXPECT_THAT(Events(record),
              ElementsAre(RunTestsEvent::kRunId, RunTestsEvent::kResultChunk,
                          RunTestsEvent::kFinished));
  EXPECT_TRUE(End(record).ok());
}

TEST_F(RunBookTest, ResultsInADirectoryAreNotDropped) {
  limits_.disk_bytes = 0;
  auto book = MakeBook(true);
  AddEnded(*book, 1000);
  AddEnded(*book, 1000);
  EXPECT_THAT(Messages(*book), ElementsAre("", ""));
}

TEST_F(RunBookTest, WhatEndedIsOnTheDiskWithADirectory) {
  std::string id;
  {
    auto book = MakeBook(true);
    auto record = Add(*book);
    id = record->id();
    RunFirstTest(*record);
    record->OnSequenceDone(absl::OkStatus());
    Await(*book);
    EXPECT_NE(*FindRun(*book, id), record);  // not the one in memory
  }
  auto book = MakeBook(true);
  EXPECT_THAT(book->interrupted_runs(), IsEmpty());
  EXPECT_THAT(States(*book), ElementsAre(RunDescription::DONE));
  EXPECT_THAT(Events(*FindRun(*book, id)),
              ElementsAre(RunTestsEvent::kRunId, RunTestsEvent::kResultChunk,
                          RunTestsEvent::kFinished));
  // New ids sort after old ones.
  EXPECT_GT(Add(*book)->id(), id);
}

TEST_F(RunBookTest, RunsThatHadNotEndedAreInterruptedAfterwards) {
  std::string id;
  {
    auto book = MakeBook(true);
    auto record = Add(*book);
    auto waiting = Add(*book);
    id = record->id();
    RunFirstTest(*record);
    // A piece of a test that was not finished.
    record->OnResultChunk(1, ResultChunk());
  }
  auto book = MakeBook(true);
  ASSERT_THAT(book->interrupted_runs(), SizeIs(2));
  EXPECT_EQ(book->interrupted_runs()[0].id(), id);
  EXPECT_EQ(book->interrupted_runs()[0].message(),
            "the test sequencer ended in the middle of test 2 of 2, second");
  EXPECT_EQ(book->interrupted_runs()[1].message(),
            "the test sequencer ended before it was this run's turn");
  EXPECT_THAT(States(*book), ElementsAre(RunDescription::INTERRUPTED,
                                         RunDescription::INTERRUPTED));
  // The finished test is there.
  EXPECT_THAT(Events(*FindRun(*book, id)),
              ElementsAre(RunTestsEvent::kRunId, RunTestsEvent::kResultChunk,
                          RunTestsEvent::kFinished));
  // Interrupted runs are reported only once.
  book = nullptr;
  EXPECT_THAT(MakeBook(true)->interrupted_runs(), IsEmpty());
}

TEST_F(RunBookTest, ADescriptionThatBecomesReadableIsThatOfAnInterruptedRun) {
  const std::string id = "20260131-235959-000";
  const std::string file = path_ + "/" + id + ".run";
  std::filesystem::create_directories(file);  // cannot be read
  auto book = MakeBook(true);
  EXPECT_THAT(States(*book), ElementsAre(RunDescription::UNKNOWN));
  std::filesystem::remove_all(file);
  std::ofstream(file) << "state: RUNNING test_names: 'first'";
  EXPECT_THAT(States(*book), ElementsAre(RunDescription::INTERRUPTED));
  auto run = FindRun(*book, id);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ((*run)->Cancel(absl::CancelledError("enough")).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(End(*run).code(), absl::StatusCode::kAborted);
}

TEST_F(RunBookTest, ARunThatIsForgottenBeforeTheDiskHasItsEndDoesNotRunOn) {
  limits_.ended = 1;
  auto disk = OpenGatedDisk();
  RunBook book(limits_, clock_);
  book.OpenDisk(disk);
  auto first = Add(book);
  auto second = Add(book);
  Await(book);
  const absl::Status error = absl::ErrnoToStatus(ENOSPC, "cannot write /x");
  disk->FailWrites(absl::OkStatus(), absl::OkStatus(), error);
  for (const auto& record : {first, second}) {
    record->OnSequenceDone(absl::OkStatus());
    Await(book);
  }
  EXPECT_THAT(States(book),
              ElementsAre(RunDescription::INTERRUPTED, RunDescription::DONE));
  EXPECT_THAT(Messages(book)[0], HasSubstr("the disk did not take how"));
  EXPECT_EQ(End(*FindRun(book, first->id())).code(),
            absl::StatusCode::kAborted);
}

TEST_F(RunBookTest, AnInterruptedRunWhoseDiskFailsDoesNotRunOn) {
  std::filesystem::create_directory(path_);
  std::ofstream(path_ + "/20260131-235959-000.run")
      << "state: RUNNING test_names: 'first' result_bytes: 100";  // no result
  auto disk = OpenGatedDisk();
  const absl::Status error = absl::ErrnoToStatus(ENOSPC, "cannot write /x");
  disk->FailWrites(absl::OkStatus(), absl::OkStatus(), error);
  RunBook book(limits_, clock_);
  book.OpenDisk(disk);
  EXPECT_THAT(States(book), ElementsAre(RunDescription::INTERRUPTED));
}

TEST_F(RunBookTest, TheDiskGetsLaterThatARunWasInterrupted) {
  std::filesystem::create_directory(path_);
  const std::string id = "20260131-235959-000";
  std::ofstream(path_ + "/" + id + ".run")
      << "state: RUNNING test_names: 'first'";
  auto disk = OpenGatedDisk();
  const absl::Status error = absl::ErrnoToStatus(ENOSPC, "cannot write /x");
  disk->FailWrites(absl::OkStatus(), absl::OkStatus(), error);
  RunBook book(limits_, clock_);
  book.OpenDisk(disk);
  EXPECT_EQ(disk->Load(id)->state(), RunDescription::RUNNING);
  disk->FailWrites(absl::OkStatus(), absl::OkStatus(), absl::OkStatus());
  Add(book)->OnSequenceDone(absl::OkStatus());
  Await(book);
  EXPECT_EQ(disk->Load(id)->state(), RunDescription::INTERRUPTED);
}

TEST_F(RunBookTest, ADiskThatTakesNothingLosesATestAndGetsThatLater) {
  auto book = MakeBook(true);
  // Makes writes fail for a while.
  std::filesystem::rename(path_, path_ + ".away");
  auto record = Add(*book);
  RunFirstTest(*record);
  record->OnSequenceDone(absl::OkStatus());
  Await(*book);
  const std::string id = record->id();
  EXPECT_THAT(base::Message(TryListRuns(*book).status()),
              HasSubstr("cannot list the runs in "));
  EXPECT_THAT(record->description().message(),
              AllOf(HasSubstr("the result of test 1 is lost"),
                    HasSubstr("until the sequencer ends")));

  std::filesystem::remove_all(path_);
  std::filesystem::rename(path_ + ".away", path_);
  Add(*book)->OnSequenceDone(absl::OkStatus());
  Await(*book);
  record = nullptr;
  book = nullptr;
  EXPECT_THAT(Messages(*MakeBook(true))[0], HasSubstr("test 1 is lost"));
}

TEST_F(RunBookTest, NobodyWaitsForADiskThatTakesItsTime) {
  auto disk = OpenGatedDisk();
  RunBook book(limits_, clock_);
  book.OpenDisk(disk);
  disk->Close();
  auto running = Add(book);
  auto waiting = Add(book);
  ASSERT_TRUE(disk->AwaitCall());
  running->OnRunStarted();
  running->OnTestSetUp(0);
  running->OnTestStarted(0, TestStarted());
  running->OnResultChunk(0, ResultChunk());
  EXPECT_TRUE(waiting->Cancel(absl::CancelledError("enough")).ok());
  waiting->OnSequenceDone(absl::CancelledError("enough"));
  // Answers that need the disk come when the disk answers.
  absl::Notification is_listed;
  book.List([&](const RunBook::RunsOrError&) { is_listed.Notify(); });
  absl::Notification is_found;
  book.Find("20200101-000000-000", [&](const RunBook::RunOrError& run) {
    EXPECT_EQ(run.status().code(), absl::StatusCode::kNotFound);
    is_found.Notify();
  });
  EXPECT_FALSE(book.AwaitStored(absl::ZeroDuration()));
  EXPECT_FALSE(is_listed.HasBeenNotified());
  EXPECT_FALSE(waiting->has_ended());
  EXPECT_EQ(*FindRun(book, running->id()), running);
  disk->Open();
  is_listed.WaitForNotification();
  is_found.WaitForNotification();
  Await(book);
  EXPECT_TRUE(waiting->has_ended());
}

TEST_F(RunBookTest, OneListingAnswersAllCallsThatWaitForIt) {
  auto disk = OpenGatedDisk();
  RunBook book(limits_, clock_);
  book.OpenDisk(disk);
  const int before = disk->list_count();
  disk->Close();
  Add(book);
  ASSERT_TRUE(disk->AwaitCall());
  std::vector<size_t> sizes;
  for (int i = 0; i < 100; ++i) {
    book.List([&](const RunBook::RunsOrError& runs) {
      sizes.push_back(runs->size());
    });
  }
  disk->Open();
  Await(book);
  EXPECT_THAT(sizes, AllOf(SizeIs(100), Each(1)));
  EXPECT_EQ(disk->list_count() - before, 1);
  EXPECT_THAT(ListRuns(book), SizeIs(1));
}

TEST_F(RunBookTest, WhatCanNotBeListedIsSaidInsteadOfNoRuns) {
  auto book = MakeBook(true);
  Add(*book);
  Await(*book);
  std::filesystem::remove_all(path_);
  for (const absl::Status& status :
       {TryListRuns(*book).status(), FindRun(*book, "x").status()}) {
    EXPECT_THAT(base::Message(status),
                AllOf(HasSubstr("cannot list the runs in " + path_),
                      HasSubstr("needs a directory")));
  }
}

TEST_F(RunBookTest, UnknownRunsAreExplained) {
  auto book = MakeBook(true);
  EXPECT_EQ(base::Message(FindRun(*book, "x").status()),
            "there is no run \"x\"; the test sequencer has none");
  std::string id = Add(*book)->id();
  const std::string meant = id;
  id.back() ^= 1;
  EXPECT_EQ(FindRun(*book, id).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(base::Message(FindRun(*book, id).status()),
              HasSubstr("did you mean " + meant + "?"));
  EXPECT_THAT(base::Message(FindRun(*book, "../../etc/passwd").status()),
              HasSubstr("distbench runs list"));
}

TEST_F(RunBookTest, LimitsNameWhatToDo) {
  limits_.unfinished = 3;
  limits_.unfinished_per_client = 2;
  limits_.tests_per_run = 2;
  auto book = MakeBook(false);
  auto mine = Add(*book);
  auto mine_too = Add(*book);
  const auto refusal = [&](const std::string& client) {
    return book->Add({.tests = tests_, .label = "", .client = client}).status();
  };
  EXPECT_EQ(refusal("me").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(base::Message(refusal("me")),
              AllOf(HasSubstr("2 runs of me"), HasSubstr("cancel")));
  auto yours = Add(*book, "you");
  EXPECT_THAT(base::Message(refusal("them")), HasSubstr("3 runs wait or run"));
  // Runs that have ended do not count.
  mine->OnSequenceDone(absl::OkStatus());
  Await(*book);
  EXPECT_TRUE(refusal("me").ok());

  tests_.add_tests();
  EXPECT_THAT(base::Message(refusal("you")),
              AllOf(HasSubstr("2 tests"), HasSubstr("this one has 3")));
}

TEST_F(RunBookTest, LabelsAreOneShortLine) {
  auto book = MakeBook(false);
  for (const std::string& label :
       {std::string("a\nb"), std::string(300, 'x')}) {
    EXPECT_EQ(book->Add({.tests = tests_, .label = label, .client = "me"})
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(ListRuns(*book), IsEmpty());
}

TEST_F(RunBookTest, TheSequencersEndIsToldToAllRuns) {
  auto book = MakeBook(true);
  auto running = Add(*book);
  auto waiting = Add(*book);
  running->OnRunStarted();
  book->OnSequencerEnds();
  for (const auto& record : {waiting, running}) {
    record->OnSequenceDone(absl::AbortedError("going"));
  }
  Await(*book);
  EXPECT_THAT(States(*book), ElementsAre(RunDescription::INTERRUPTED,
                                         RunDescription::CANCELLED));
}

}  // namespace
}  // namespace distbench::sequencer
