// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/client/progress_display.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "distbench/client/testing/progress_display_fixture.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::client {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string Fit(size_t room) {
  return FitLine({{"[1/2] ", 1, false},
                  {"[##--] ", 3, false},
                  {"", 9},
                  {"7 failed", 0},
                  {"5 s", 4},
                  {"2k/s", 2},
                  {"  name", 5, false}},
                 room);
}

TEST(FitLineTest, SaysAsMuchAsFits) {
  EXPECT_EQ(Fit(100), "[1/2] [##--] 7 failed, 5 s, 2k/s  name");
  EXPECT_EQ(Fit(38), "[1/2] [##--] 7 failed, 5 s, 2k/s  name");
  EXPECT_EQ(Fit(37), "[1/2] [##--] 7 failed, 5 s, 2k/s");
  EXPECT_EQ(Fit(31), "[1/2] [##--] 7 failed, 2k/s");
  EXPECT_EQ(Fit(26), "[1/2] 7 failed, 2k/s");
  EXPECT_EQ(Fit(19), "[1/2] 7 failed");
  EXPECT_EQ(Fit(13), "7 failed");
}

TEST(FitLineTest, CutsTheMostImportantPartLast) {
  EXPECT_EQ(Fit(3), "7 f");
  EXPECT_EQ(Fit(0), "");
  EXPECT_EQ(FitLine({}, 5), "");
}

TEST_F(ProgressDisplayTest, FileGetsALineEveryFiveSeconds) {
  ProgressDisplay display(Options());
  display.Show(Started(30'000'000));
  EXPECT_EQ(TakeOutput(), "[2/3] incast: started, takes about 30 s\n");

  for (int second = 1; second < 5; ++second) {
    clock_.Advance(kSecondNs);
    display.Show(Progress(1000 * second, 0));
  }
  EXPECT_EQ(TakeOutput(), "");
  clock_.Advance(kSecondNs);
  display.Show(Progress(5000, 2));
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: 5 s, 25 s left, 5000 RPCs, 1.00 k/s, 2 failed\n");
}

TEST_F(ProgressDisplayTest, RateIsSinceTheLineBefore) {
  ProgressDisplay display(Options());
  display.Show(Started(0));
  clock_.Advance(5 * kSecondNs);
  display.Show(Progress(5000, 0));
  TakeOutput();
  clock_.Advance(10 * kSecondNs);
  display.Show(Progress(45'000, 0));
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: 15 s, 45000 RPCs, 4.00 k/s, 0 failed\n");
}

// The counts are those of 2 s and then of the end, at 4.5 s.
TEST_F(ProgressDisplayTest, RateIsThatOfTheTimeBetweenTheCounts) {
  ProgressDisplay display(Options());
  display.Show(Started(0));
  RunTestsEvent event = Progress(4000, 0);
  event.mutable_progress()->set_traffic_time_ns(2 * kSecondNs);
  clock_.Advance(5 * kSecondNs);
  TakeOutput();
  display.Show(event);
  EXPECT_EQ(TakeOutput(), "[2/3] incast: 5 s, 4000 RPCs, 2.00 k/s, 0 failed\n");
  event = Progress(9000, 0);
  event.mutable_progress()->set_traffic_time_ns(4 * kSecondNs + kSecondNs / 2);
  clock_.Advance(5 * kSecondNs);
  display.Show(event);
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: 10 s, 9000 RPCs, 2.00 k/s, 0 failed\n");
}

TEST_F(ProgressDisplayTest, ThereIsNoRateWithoutNewCounts) {
  ProgressDisplay display(Options());
  display.Show(Started(0));
  clock_.Advance(5 * kSecondNs);
  RunTestsEvent event = Progress(0, 0);
  event.mutable_progress()->clear_traffic_time_ns();
  TakeOutput();
  display.Show(event);
  EXPECT_EQ(TakeOutput(), "[2/3] incast: 5 s, 0 RPCs, 0 failed\n");
}

TEST_F(ProgressDisplayTest, RateStartsAfreshWithEachTest) {
  ProgressDisplay display(Options());
  for (int test = 0; test < 2; ++test) {
    display.Show(Started(0));
    clock_.Advance(5 * kSecondNs);
    display.Show(Progress(10'000, 0));
    EXPECT_THAT(TakeOutput(), HasSubstr("5 s, 10000 RPCs, 2.00 k/s"));
  }
}

TEST_F(ProgressDisplayTest, EndSaysHowTheTestWent) {
  ProgressDisplay display(Options());
  display.Show(Started(0));
  clock_.Advance(1'540'000'000);
  TakeOutput();
  display.Show(Finished());
  EXPECT_EQ(TakeOutput(), "[2/3] incast: done after 1.5 s\n");

  display.Show(Started(0));
  clock_.Advance(2'000'000'000);
  TakeOutput();
  RunTestsEvent failed = Finished();
  failed.mutable_finished()->mutable_run_info()->set_failure("node1 was lost");
  display.Show(failed);
  EXPECT_EQ(TakeOutput(), "[2/3] incast: failed after 2.0 s\n");
}

TEST_F(ProgressDisplayTest, EndOfATestThatNeverStartedHasNoDuration) {
  clock_.Advance(6'650'000'000'000);
  ProgressDisplay display(Options());
  RunTestsEvent failed = Finished();
  failed.mutable_finished()->mutable_traffic_config()->set_name("incast");
  failed.mutable_finished()->mutable_run_info()->set_failure("no such device");
  display.Show(failed);
  EXPECT_EQ(TakeOutput(), "[2/3] incast: failed before it started\n");
}

TEST_F(ProgressDisplayTest, WaitIsSaid) {
  ProgressDisplay display(Options());
  RunTestsEvent event;
  for (const int position : {2, 1, 0}) {
    event.set_queue_position(position);
    display.Show(event);
  }
  EXPECT_EQ(TakeOutput(),
            "Waiting, 2 runs ahead\n"
            "Waiting, 1 run ahead\n");
}

TEST_F(ProgressDisplayTest, RunIdIsSaidIfItIsOfUse) {
  RunTestsEvent event;
  event.set_run_id("20260131-235959-000");
  for (const bool show : {false, true}) {
    ProgressDisplayOptions options = Options();
    options.show_run_id = show;
    ProgressDisplay display(options);
    display.Show(event);
    EXPECT_EQ(TakeOutput(), show ? "Run 20260131-235959-000\n" : "");
  }
}

TEST_F(ProgressDisplayTest, ARunCanBeFollowedFromItsMiddle) {
  ProgressDisplayOptions options = Options();
  options.running_time_us = 7'000'000;
  ProgressDisplay display(options);
  display.Show(Started(30'000'000));
  EXPECT_EQ(TakeOutput(), "[2/3] incast: started 7 s ago, takes about 30 s\n");
  // RPCs before the first progress do not count towards a rate.
  clock_.Advance(kSecondNs);
  display.Show(Progress(900'000, 0));
  EXPECT_EQ(TakeOutput(), "");
  clock_.Advance(5 * kSecondNs);
  display.Show(Progress(905'000, 0));
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: 13 s, 17 s left, 905000 RPCs, 1.00 k/s, 0 "
            "failed\n");
  display.Show(Finished());
  TakeOutput();
  // The next test has no earlier progress.
  display.Show(Started(0));
  EXPECT_EQ(TakeOutput(), "[2/3] incast: started\n");
}

TEST_F(ProgressDisplayTest, TimesThatNobodyLivesToSeeDoNotOverflow) {
  ProgressDisplayOptions options = Options();
  options.running_time_us = std::numeric_limits<int64_t>::max();
  ProgressDisplay display(options);
  display.Show(Started(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: started 9223372036 s ago, takes about 9223372037 "
            "s\n");
  clock_.Advance(6 * kSecondNs);
  display.Show(Progress(1000, 0));
  clock_.Advance(6 * kSecondNs);
  display.Show(Progress(2000, 0));
  EXPECT_THAT(TakeOutput(), HasSubstr("9223372036 s, 0 s left"));
}

TEST_F(ProgressDisplayTest, EndOfATestThatWasOverBeforeItWasFollowed) {
  ProgressDisplay display(Options());
  RunTestsEvent over = Finished();
  over.mutable_finished()->mutable_traffic_config()->set_name("incast");
  RunInfo& info = *over.mutable_finished()->mutable_run_info();
  info.set_start_timestamp_ns(5 * kSecondNs);
  info.set_end_timestamp_ns(8 * kSecondNs);
  display.Show(over);
  EXPECT_EQ(TakeOutput(), "[2/3] incast: done after 3.0 s\n");
}

TEST_F(ProgressDisplayTest, LatenciesAreThoseSinceTheLineBefore) {
  ProgressDisplay display(Options());
  display.Show(Started(0));
  for (int second = 1; second <= 10; ++second) {
    clock_.Advance(kSecondNs);
    RunTestsEvent event = Progress(100 * second, 0);
    *event.mutable_progress()->mutable_recent_service_time_ns() =
        Of(second <= 5   ? 100'000
           : second <= 9 ? 200
                         : 40'000'000'000);
    if (second == 6) TakeOutput();
    display.Show(event);
  }
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: 10 s, 1000 RPCs, 100/s, p50 200 ns, p99 40.0 s, 0 "
            "failed\n");
}

}  // namespace

// Tests lines on terminals, and what they say of open loops.

namespace {

TEST_F(ProgressDisplayTest, TerminalHasABarOnOneLine) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(20'000'000));
  TakeOutput();
  clock_.Advance(5 * kSecondNs);
  display.Show(Progress(10'000, 0));
  EXPECT_EQ(TakeOutput(),
            "\r\x1b[K[2/3] [#####---------------] 5 s, 15 s left, 2.00 k/s, "
            "0 failed  incast");
}

TEST_F(ProgressDisplayTest, HowManyTestsThereAreMayNotBeKnown) {
  ProgressDisplayOptions options = TerminalOptions();
  options.test_count = 0;
  ProgressDisplay display(options);
  display.Show(Started(20'000'000));
  TakeOutput();
  clock_.Advance(5 * kSecondNs);
  display.Show(Progress(10'000, 0));
  EXPECT_THAT(TakeOutput(), testing::StartsWith("\r\x1b[K[2] [#####-"));
}

TEST_F(ProgressDisplayTest, TerminalShowsNoRateOfAMoment) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(10'000'000));
  clock_.Advance(kSecondNs);
  display.Show(Progress(1'000, 0));
  TakeOutput();
  clock_.Advance(40'000'000);
  display.Show(Progress(2'000, 0));
  EXPECT_EQ(TakeOutput(), "");
}

TEST_F(ProgressDisplayTest, BarStopsAtItsEnd) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(1'000'000));
  clock_.Advance(90 * kSecondNs);
  display.Show(Progress(1, 0));
  EXPECT_THAT(TakeOutput(), HasSubstr("[####################] 90 s, 0 s left"));
}

TEST_F(ProgressDisplayTest, OpenLoopsShowWhatIsOfferedToo) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(0));
  for (int64_t second : {1, 2}) {
    clock_.Advance(kSecondNs);
    RunTestsEvent event = Progress(1000 * second * second, 3);
    event.mutable_progress()->set_offered_count(4000 * second);
    event.mutable_progress()->set_open_loop_ended_count(1000 * second * second +
                                                        3);
    *event.mutable_progress()->mutable_recent_service_time_ns() = Of(50'000);
    *event.mutable_progress()->mutable_recent_response_time_ns() =
        Of(1'234'567);
    TakeOutput();
    display.Show(event);
  }
  EXPECT_EQ(TakeOutput(),
            "\r\x1b[K[2/3] 3 failed, 2 s, 3.00 k/s of 4.00 k/s, p50 1.23 ms, "
            "p99 1.23 ms  incast");
}

// A test of three tiers: an open loop sends 520 per second, of which 510 have
// ended, and each of those causes four more RPCs.
RunTestsEvent ThreeTiers(int64_t failed, int64_t traffic_time_ns) {
  RunTestsEvent event;
  event.set_test_index(1);
  TrafficProgress& progress = *event.mutable_progress();
  progress.set_succeeded_count(5 * 510);
  progress.set_failed_count(failed);
  progress.set_offered_count(520);
  progress.set_open_loop_ended_count(510);
  progress.set_traffic_time_ns(traffic_time_ns);
  stats::LogHistogram latency_ns;
  latency_ns.Record(1'234'567);
  results::EncodeHistogram(latency_ns,
                           *progress.mutable_recent_response_time_ns());
  return event;
}

TEST_F(ProgressDisplayTest, OnlyOpenLoopsAreComparedWithWhatTheyOffered) {
  ProgressDisplayOptions options = TerminalOptions();
  options.columns = 200;
  ProgressDisplay display(options);
  display.Show(Started(20'000'000));
  clock_.Advance(kSecondNs);
  TakeOutput();
  display.Show(ThreeTiers(/*failed=*/0, kSecondNs));
  EXPECT_EQ(
      TakeOutput(),
      "\r\x1b[K[2/3] [#-------------------] 1 s, 19 s left, 510/s of "
      "520/s, 2.55 k/s in all, p50 1.23 ms, p99 1.23 ms, 0 failed  incast");
}

TEST_F(ProgressDisplayTest, FileSaysTheSameInItsOrder) {
  ProgressDisplay display(Options());
  display.Show(Started(0));
  clock_.Advance(5 * kSecondNs);
  TakeOutput();
  display.Show(ThreeTiers(/*failed=*/3, 5 * kSecondNs));
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: 5 s, 2550 RPCs, 102/s of 104/s, 510/s in "
            "all, p50 1.23 ms, p99 1.23 ms, 3 failed\n");
}

TEST_F(ProgressDisplayTest, FailuresOfAnOpenLoopAreNotPartOfItsRate) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(0));
  clock_.Advance(kSecondNs);
  TakeOutput();
  RunTestsEvent event = Progress(100, 900);
  event.mutable_progress()->set_offered_count(1000);
  // One has been counted meanwhile.
  event.mutable_progress()->set_open_loop_ended_count(999);
  display.Show(event);
  EXPECT_EQ(TakeOutput(),
            "\r\x1b[K[2/3] 900 failed, 1 s, 100/s of 1.00 k/s, p50 failed, "
            "p99 failed  incast");
}

TEST_F(ProgressDisplayTest, AnOlderSequencerHasOnlyTheTotal) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(0));
  clock_.Advance(kSecondNs);
  TakeOutput();
  RunTestsEvent event = Progress(1000, 0);
  event.mutable_progress()->set_offered_count(2000);
  display.Show(event);
  EXPECT_EQ(TakeOutput(), "\r\x1b[K[2/3] 1 s, 1.00 k/s, 0 failed  incast");
}

TEST_F(ProgressDisplayTest, EveryWidthShowsTheWorstNewsFirst) {
  const std::pair<int, std::string> lines[] = {
      {40, "[2/3] 1234567 failed, 510/s of 520/s"},
      {60, "[2/3] 1234567 failed, 1 s, 19 s left, 510/s of 520/s"},
      {80,
       "[2/3] 1234567 failed, 1 s, 19 s left, 510/s of 520/s, 2.55 k/s in "
       "all  incast"},
      {200,
       "[2/3] [#-------------------] 1234567 failed, 1 s, 19 s left, 510/s of "
       "520/s, 2.55 k/s in all, p50 failed, p99 failed  incast"}};
  for (const auto& [columns, line] : lines) {
    ProgressDisplayOptions options = TerminalOptions();
    options.columns = columns;
    ProgressDisplay display(options);
    display.Show(Started(20'000'000));
    clock_.Advance(kSecondNs);
    TakeOutput();
    display.Show(ThreeTiers(/*failed=*/1'234'567, kSecondNs));
    EXPECT_EQ(TakeOutput(), "\r\x1b[K" + line);
  }
}

TEST_F(ProgressDisplayTest, ALongNameIsCutOff) {
  ProgressDisplayOptions options = TerminalOptions();
  options.columns = 48;
  ProgressDisplay display(options);
  RunTestsEvent started = Started(0);
  started.mutable_started()->set_name("a_name_of_many_words");
  display.Show(started);
  clock_.Advance(kSecondNs);
  TakeOutput();
  display.Show(Progress(500, 0));
  EXPECT_EQ(TakeOutput(),
            "\r\x1b[K[2/3] 1 s, 500/s, 0 failed  a_name_of_many_word");
}

TEST_F(ProgressDisplayTest, TestOfUnknownLengthHasNoBar) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(0));
  TakeOutput();
  clock_.Advance(kSecondNs);
  display.Show(Progress(500, 0));
  EXPECT_EQ(TakeOutput(), "\r\x1b[K[2/3] 1 s, 500/s, 0 failed  incast");
}

TEST_F(ProgressDisplayTest, TerminalIsClearAfterTheEnd) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(0));
  TakeOutput();
  display.Show(Finished());
  EXPECT_EQ(TakeOutput(), "\r\x1b[K[2/3] incast: done after 0.0 s\n");
  display.Clear();
  EXPECT_EQ(TakeOutput(), "");
}

TEST_F(ProgressDisplayTest, InterruptedDisplayClearsTheTerminal) {
  {
    ProgressDisplay display(TerminalOptions());
    display.Show(Started(0));
  }
  EXPECT_THAT(output_, EndsWith("\r\x1b[K"));
}

TEST_F(ProgressDisplayTest, NarrowTerminalsAreNotOverrun) {
  for (const int columns : {0, 1, 2, 40}) {
    ProgressDisplayOptions options = TerminalOptions();
    options.columns = columns;
    ProgressDisplay display(options);
    display.Show(Started(30'000'000));
    constexpr int kClearLength = 4;
    EXPECT_THAT(TakeOutput(), SizeIs(kClearLength + std::max(columns - 1, 0)));
    display.Clear();
    TakeOutput();
  }
}

}  // namespace
}  // namespace distbench::client
