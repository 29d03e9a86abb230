#include "distbench/client/progress_display.h"

#include <cstdint>
#include <limits>

#include "distbench/client/testing/progress_display_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::client {
namespace {

using ::testing::HasSubstr;

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
            "[2/3] incast: 5 s, 25 s left, 5000 RPCs, 1.00 kQPS, 2 failed\n");
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
            "[2/3] incast: 15 s, 45000 RPCs, 4.00 kQPS, 0 failed\n");
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
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: 5 s, 4000 RPCs, 2.00 kQPS, 0 failed\n");
  event = Progress(9000, 0);
  event.mutable_progress()->set_traffic_time_ns(4 * kSecondNs + kSecondNs / 2);
  clock_.Advance(5 * kSecondNs);
  display.Show(event);
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: 10 s, 9000 RPCs, 2.00 kQPS, 0 failed\n");
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
    EXPECT_THAT(TakeOutput(), HasSubstr("5 s, 10000 RPCs, 2.00 kQPS"));
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
            "[2/3] incast: 13 s, 17 s left, 905000 RPCs, 1.00 kQPS, 0 "
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
            "[2/3] incast: 10 s, 1000 RPCs, 0.10 kQPS, p50 200ns, p99 40s, 0 "
            "failed\n");
}

}  // namespace
}  // namespace distbench::client
