// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::HasSubstr;

// Histograms keep two digits, and a simulated event may take a microsecond.
#define EXPECT_ABOUT_MS(histogram, ms)                    \
  EXPECT_NEAR((histogram).ValueAtQuantile(0.5), (ms)*kMs, \
              0.01 * kMs + 0.01 * (ms)*kMs)

// The test of ClientServer(), whose RPC streams. `handler` are the names of the
// actions of its list.
DistributedSystemDescription StreamTest(absl::string_view stream,
                                        absl::string_view client_action,
                                        absl::string_view handler = "",
                                        absl::string_view more = "") {
  DistributedSystemDescription test =
      ParseTest(ClientServer(client_action, more));
  auto& rpc = *test.mutable_rpc_descriptions(0);
  DistributedSystemDescription parsed =
      ParseTest(absl::Substitute("rpc_descriptions { stream { $0 } }", stream));
  *rpc.mutable_stream() = parsed.rpc_descriptions(0).stream();
  if (!handler.empty()) {
    test.mutable_action_lists(1)->add_action_names(std::string(handler));
  }
  return test;
}

class Outcome {
 public:
  explicit Outcome(ServiceLogs logs) : logs_(std::move(logs)) {
    const auto& log = logs_.instance_logs().at("client/0");
    if (log.stream_statistics().contains(0)) {
      totals = log.stream_statistics().at(0);
      EXPECT_TRUE(results::ValidateCounters(totals, {}).ok());
    }
    statistics = StatisticsOf(logs_, "client/0", "server/0");
  }
  const std::string& error() const {
    return logs_.instance_logs()
        .at("client/0")
        .error_dictionary()
        .error_message(1);
  }

  StreamStatistics totals;
  RpcStatistics statistics;

 private:
  const ServiceLogs logs_;
};

Outcome RunTest(const DistributedSystemDescription& test) {
  VirtualTimeSystem system(test, /*workers=*/1);
  EXPECT_TRUE(system.Run(60'000 * kMs));
  return Outcome(system.Finish());
}

constexpr char kThreeTimes[] = "iterations { max_iteration_count: 3 }";

TEST(StreamsTest, ServerStreamsAtItsInterval) {
  const Outcome outcome = RunTest(
      StreamTest("server_messages: 11 server_interval: '20ms'", kThreeTimes));
  EXPECT_EQ(outcome.statistics.succeeded_count(), 3);
  EXPECT_EQ(outcome.statistics.request_bytes(), 3 * 100);
  EXPECT_EQ(outcome.statistics.response_bytes(), 3 * 11 * 100);
  EXPECT_EQ(outcome.totals.stream_count(), 3);
  EXPECT_EQ(outcome.totals.request_messages(), 3);
  EXPECT_EQ(outcome.totals.response_messages(), 33);
  EXPECT_EQ(outcome.totals.response_bytes(), 3300);
  EXPECT_EQ(results::HistogramOf(outcome.totals.gap_ns()).count(), 30);
  EXPECT_ABOUT_MS(results::HistogramOf(outcome.totals.gap_ns()), 20);
  EXPECT_LT(outcome.totals.first_message_ns().max(), kMs);
  EXPECT_EQ(results::HistogramOf(outcome.totals.round_trip_ns()).count(), 0);
  EXPECT_EQ(outcome.totals.server_blocked_ns().max(), 0);
}

TEST(StreamsTest, ClientStreamsAndTheLastRequestStartsTheResponse) {
  const Outcome outcome =
      RunTest(StreamTest("client_messages: 6 client_interval: '10ms' "
                         "response_starts: 'on_last_request'",
                         kThreeTimes));
  EXPECT_EQ(outcome.totals.request_messages(), 18);
  EXPECT_EQ(outcome.totals.request_bytes(), 1800);
  EXPECT_EQ(outcome.totals.response_messages(), 3);
  EXPECT_ABOUT_MS(results::HistogramOf(outcome.totals.first_message_ns()), 50);
  EXPECT_EQ(results::HistogramOf(outcome.totals.gap_ns()).count(), 0);
}

TEST(StreamsTest, TheFirstRequestStartsTheListByDefault) {
  const Outcome outcome = RunTest(StreamTest(
      "client_messages: 6 client_interval: '10ms' "
      "server_messages: 2",
      kThreeTimes, "wait",
      R"pb(actions { name: "wait" activity_config_name: "wait" }
           activity_configs {
             name: "wait"
             activity_settings { name: "activity_func" string_value: "Wait" }
             activity_settings { name: "mean_us" int64_value: 7000 }
           })pb"));
  EXPECT_ABOUT_MS(results::HistogramOf(outcome.totals.first_message_ns()), 7);
  // The RPC ends when both directions have.
  EXPECT_GE(outcome.statistics.service_time_ns().min(), 50 * kMs);
  EXPECT_EQ(outcome.totals.request_messages(), 18);
  EXPECT_EQ(outcome.totals.response_messages(), 6);
}

TEST(StreamsTest, EchoAnswersEachMessageInLockstep) {
  const Outcome outcome = RunTest(
      StreamTest("client_messages: 5 response_starts: 'echo'", kThreeTimes));
  EXPECT_EQ(outcome.totals.request_messages(), 15);
  EXPECT_EQ(outcome.totals.response_messages(), 15);
  EXPECT_EQ(results::HistogramOf(outcome.totals.round_trip_ns()).count(), 15);
  EXPECT_EQ(results::HistogramOf(outcome.totals.gap_ns()).count(), 0);
}

// A server that stands still for 100 ms delays all messages that were due.
TEST(StreamsTest, RoundTripsAndBlockedTimeIncludeAStall) {
  const auto test = StreamTest(
      "client_messages: 101 client_interval: '10ms' response_starts: 'echo'",
      "iterations { max_iteration_count: 1 }");
  VirtualTimeSystem system(test, /*workers=*/1);
  system.FreezeBetween("server/0", system.start_ns() + 495 * kMs,
                       system.start_ns() + 595 * kMs);
  ASSERT_TRUE(system.Run());
  const Outcome outcome(system.Finish());
  EXPECT_EQ(results::HistogramOf(outcome.totals.round_trip_ns()).count(), 101);
  // Due 500 ms after the start, answered after 595 ms.
  EXPECT_NEAR(outcome.totals.round_trip_ns().max(), 95 * kMs, kMs);
  // Messages were due from 510 ms on, and the stack took none until 595 ms.
  EXPECT_NEAR(outcome.totals.client_blocked_ns().max(), 85 * kMs, kMs);
  EXPECT_EQ(results::HistogramOf(outcome.totals.gap_ns()).count(), 0);
}

// What a server leaves unanswered is not forgotten with the RPC: neither what
// was sent nor what was due.
TEST(StreamsTest, AFailedEchoCountsWhatWasNotAnswered) {
  auto test = StreamTest(
      "client_messages: 101 client_interval: '10ms' response_starts: 'echo'",
      kThreeTimes, "wait",
      R"pb(actions { name: "wait" activity_config_name: "wait" }
           activity_configs {
             name: "wait"
             activity_settings { name: "activity_func" string_value: "Wait" }
             activity_settings { name: "mean_us" int64_value: 2000000 }
           })pb");
  test.mutable_rpc_descriptions(0)->set_deadline("395ms");
  const Outcome outcome = RunTest(test);
  EXPECT_EQ(outcome.totals.stream_count(), 0);
  EXPECT_EQ(results::HistogramOf(outcome.totals.round_trip_ns()).count(), 0);
  // Due until 390 ms after the start; loopback may notice the deadline when the
  // next message is sent.
  EXPECT_GE(outcome.totals.unanswered_messages(), 3 * 40);
  EXPECT_LE(outcome.totals.unanswered_messages(), 3 * 41);
}

TEST(StreamsTest, AnEchoThatSucceedsLeavesNothingUnanswered) {
  const Outcome outcome = RunTest(
      StreamTest("client_messages: 5 response_starts: 'echo'", kThreeTimes));
  EXPECT_EQ(outcome.totals.stream_count(), 3);
  EXPECT_EQ(outcome.totals.unanswered_messages(), 0);
}

// Responses start before the RPC is due if its client is late: the first
// message counts from when the RPC should have begun.
TEST(StreamsTest, TheFirstMessageCountsFromTheIntendedStart) {
  const auto test = StreamTest(
      "server_messages: 2 server_interval: '1ms'",
      "iterations { open_loop_interval_ns: 10000000 max_iteration_count: 50 }");
  VirtualTimeSystem system(test, /*workers=*/1);
  system.FreezeBetween("client/0", system.start_ns() + 95 * kMs,
                       system.start_ns() + 295 * kMs);
  ASSERT_TRUE(system.Run());
  const Outcome outcome(system.Finish());
  EXPECT_EQ(outcome.totals.stream_count(), 50);
  EXPECT_NEAR(outcome.totals.first_message_ns().max(), 195 * kMs, 2 * kMs);
}

TEST(StreamsTest, WarmUpIsNotMeasured) {
  const Outcome outcome = RunTest(
      StreamTest("server_messages: 4",
                 "iterations { max_iteration_count: 5 warmup_iterations: 2 }"));
  EXPECT_EQ(outcome.statistics.warmup_count(), 2);
  EXPECT_EQ(outcome.totals.stream_count(), 3);
  EXPECT_EQ(outcome.totals.response_messages(), 12);
  EXPECT_EQ(results::HistogramOf(outcome.totals.gap_ns()).count(), 9);
}

TEST(StreamsTest, CountsSizesAndIntervalsAreDrawn) {
  const Outcome outcome =
      RunTest(StreamTest("client_messages_distribution: 'counts' "
                         "client_interval_distribution: 'pauses' "
                         "response_starts: 'on_last_request'",
                         "iterations { max_iteration_count: 40 }", "",
                         R"pb(size_distribution_configs {
                                name: "counts"
                                pmf_points {
                                  pmf: 0.5
                                  data_points { exact: 0 }
                                }
                                pmf_points {
                                  pmf: 0.5
                                  data_points { exact: 3 }
                                }
                              }
                              delay_distribution_configs {
                                name: "pauses"
                                pmf_points {
                                  pmf: 1
                                  data_points { exact: 2000000 }
                                }
                              })pb"));
  const int64_t messages = outcome.totals.request_messages();
  // A drawn 0 counts as 1.
  EXPECT_GT(messages, 40);
  EXPECT_LT(messages, 120);
  EXPECT_EQ(messages % 2, 0);
  EXPECT_EQ(outcome.totals.request_bytes(), 100 * messages);
  EXPECT_NEAR(outcome.totals.first_message_ns().max(), 4 * kMs, kMs);
}

TEST(StreamsTest, ADeadlineEndsTheStreamAtBothEnds) {
  auto test =
      StreamTest("server_messages: 1000 server_interval: '10ms'", kThreeTimes);
  test.mutable_rpc_descriptions(0)->set_deadline("95ms");
  const Outcome outcome = RunTest(test);
  EXPECT_EQ(outcome.statistics.failed_count(), 3);
  EXPECT_EQ(outcome.totals.stream_count(), 0);
  EXPECT_EQ(results::HistogramOf(outcome.totals.first_message_ns()).count(), 0);
  // Gaps count although the RPCs failed: they were observed.
  EXPECT_EQ(results::HistogramOf(outcome.totals.gap_ns()).count(), 27);
  EXPECT_THAT(outcome.error(), HasSubstr("DEADLINE_EXCEEDED"));
}

TEST(StreamsTest, StoppingEndsOpenStreamsOnce) {
  for (const absl::string_view stream :
       {"server_messages: 1000 server_interval: '10ms'",
        "client_messages: 1000 client_interval: '10ms'",
        "client_messages: 1000 client_interval: '10ms' response_starts: 'echo'",
        "client_messages: 1000 client_interval: '10ms' "
        "response_starts: 'on_last_request'"}) {
    VirtualTimeSystem system(
        StreamTest(stream,
                   "iterations { max_parallel_iterations: 4 "
                   "max_iteration_count: 4 }"),
        /*workers=*/1);
    system.RunFor(95 * kMs);
    system.StopAll("enough");
    ASSERT_TRUE(system.Run());
    const Outcome outcome(system.Finish());
    EXPECT_EQ(outcome.statistics.succeeded_count(), 0) << stream;
    EXPECT_EQ(outcome.statistics.failed_count(), 4) << stream;
  }
}

}  // namespace
}  // namespace distbench::engine
