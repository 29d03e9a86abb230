// Tests lines on terminals, and what they say of open loops.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "distbench/client/progress_display.h"
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

TEST_F(ProgressDisplayTest, TerminalHasABarOnOneLine) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(20'000'000));
  TakeOutput();
  clock_.Advance(5 * kSecondNs);
  display.Show(Progress(10'000, 0));
  EXPECT_EQ(TakeOutput(),
            "\r\x1b[K[2/3] [#####---------------] 5 s, 15 s left, 2.00 kQPS, "
            "0 failed  incast");
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
            "\r\x1b[K[2/3] 3 failed, 2 s, 3.00 of 4.00 kQPS, p50 1.23ms, "
            "p99 1.23ms  incast");
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
  EXPECT_EQ(TakeOutput(),
            "\r\x1b[K[2/3] [#-------------------] 1 s, 19 s left, 0.51 of 0.52 "
            "kQPS, 2.55 kQPS in all, p50 1.23ms, p99 1.23ms, 0 failed  incast");
}

TEST_F(ProgressDisplayTest, FileSaysTheSameInItsOrder) {
  ProgressDisplay display(Options());
  display.Show(Started(0));
  clock_.Advance(5 * kSecondNs);
  TakeOutput();
  display.Show(ThreeTiers(/*failed=*/3, 5 * kSecondNs));
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: 5 s, 2550 RPCs, 0.10 of 0.10 kQPS, 0.51 kQPS in "
            "all, p50 1.23ms, p99 1.23ms, 3 failed\n");
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
            "\r\x1b[K[2/3] 900 failed, 1 s, 0.10 of 1.00 kQPS  incast");
}

TEST_F(ProgressDisplayTest, AnOlderSequencerHasOnlyTheTotal) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(0));
  clock_.Advance(kSecondNs);
  TakeOutput();
  RunTestsEvent event = Progress(1000, 0);
  event.mutable_progress()->set_offered_count(2000);
  display.Show(event);
  EXPECT_EQ(TakeOutput(), "\r\x1b[K[2/3] 1 s, 1.00 kQPS, 0 failed  incast");
}

TEST_F(ProgressDisplayTest, EveryWidthShowsTheWorstNewsFirst) {
  const std::pair<int, std::string> lines[] = {
      {40, "[2/3] 1234567 failed, 0.51 of 0.52 kQPS"},
      {60, "[2/3] 1234567 failed, 1 s, 19 s left, 0.51 of 0.52 kQPS"},
      {80,
       "[2/3] 1234567 failed, 1 s, 19 s left, 0.51 of 0.52 kQPS, 2.55 kQPS in "
       "all"},
      {200,
       "[2/3] [#-------------------] 1234567 failed, 1 s, 19 s left, 0.51 of "
       "0.52 kQPS, 2.55 kQPS in all, p50 1.23ms, p99 1.23ms  incast"}};
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
            "\r\x1b[K[2/3] 1 s, 0.50 kQPS, 0 failed  a_name_of_many_");
}

TEST_F(ProgressDisplayTest, TestOfUnknownLengthHasNoBar) {
  ProgressDisplay display(TerminalOptions());
  display.Show(Started(0));
  TakeOutput();
  clock_.Advance(kSecondNs);
  display.Show(Progress(500, 0));
  EXPECT_EQ(TakeOutput(), "\r\x1b[K[2/3] 1 s, 0.50 kQPS, 0 failed  incast");
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
