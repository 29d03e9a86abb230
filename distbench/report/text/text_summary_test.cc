// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/text/text_summary.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/legacy_results.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStart = 1'700'000'000 * kSecond;

void SetSpan(int64_t start_ns, int64_t end_ns, RpcStatistics& statistics) {
  statistics.set_first_start_timestamp_ns(kStart + start_ns);
  statistics.set_last_end_timestamp_ns(kStart + end_ns);
}

// The values 1, 2, ... last; all exact, because they are small.
stats::LogHistogram UpTo(int last) {
  stats::LogHistogram histogram;
  for (int value = 1; value <= last; ++value) {
    histogram.Record(value);
  }
  return histogram;
}

stats::LogHistogram Repeated(int64_t value, int count) {
  stats::LogHistogram histogram;
  histogram.RecordN(value, count);
  return histogram;
}

// Two clients and two servers; the longest pair takes 2 s.
//
// clang-format off
//   pair      RPC     succeeded              failed  warmup  req MiB  resp MiB
//   c/0 s/0   query   1..100 ns                        1000        2        10
//   c/0 s/0   append                              3
//   c/0 s/1   append  40 x 30 ns                         10        4         0
//   c/1 s/0   query                                    5000
//   c/1 s/1   query   1..100 ns and 5 ms                           3        30
// clang-format on
TestResult TwoByTwo() {
  TestResult result = ResultFromText(R"(
    traffic_config {
      rpc_descriptions { name: "query" }
      rpc_descriptions { name: "append" }
      rpc_descriptions { name: "never_sent" }
    })");
  RpcStatistics& query00 = StatisticsOf(result, "c/0", "s/0", 0);
  query00.set_succeeded_count(100);
  query00.set_warmup_count(1000);
  query00.set_request_bytes(2 * kMiB);
  query00.set_response_bytes(10 * kMiB);
  SetSpan(0, 2 * kSecond, query00);
  results::EncodeHistogram(UpTo(100), *query00.mutable_service_time_ns());

  RpcStatistics& append00 = StatisticsOf(result, "c/0", "s/0", 1);
  append00.set_failed_count(3);
  (*append00.mutable_failures_by_error())[1] = 2;

  RpcStatistics& append01 = StatisticsOf(result, "c/0", "s/1", 1);
  append01.set_succeeded_count(40);
  append01.set_warmup_count(10);
  append01.set_request_bytes(4 * kMiB);
  SetSpan(kSecond, kSecond + kSecond / 2, append01);
  results::EncodeHistogram(Repeated(30, 40),
                           *append01.mutable_service_time_ns());

  StatisticsOf(result, "c/1", "s/0", 0).set_warmup_count(5000);

  RpcStatistics& query11 = StatisticsOf(result, "c/1", "s/1", 0);
  query11.set_succeeded_count(101);
  query11.set_request_bytes(3 * kMiB);
  query11.set_response_bytes(30 * kMiB);
  // From another clock, which must not be compared with that of c/0.
  SetSpan(100 * kSecond, 101 * kSecond, query11);
  stats::LogHistogram latency = UpTo(100);
  latency.Record(5'000'000);
  results::EncodeHistogram(latency, *query11.mutable_service_time_ns());

  auto& errors = *result.mutable_service_logs()
                      ->mutable_instance_logs()
                      ->at("c/0")
                      .mutable_error_dictionary();
  errors.add_error_message("");
  errors.add_error_message("UNAVAILABLE:\nconnection refused");
  return result;
}

TEST(TextSummaryTest, ListsABoundedNumberOfPairs) {
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'query' } }");
  for (int i = 0; i < 20'003; ++i) {
    StatisticsOf(result, "c/0", absl::StrCat("s/", i), 0)
        .set_succeeded_count(1);
  }
  const std::vector<std::string> lines = SummarizeTest(result);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) {
                            return absl::StrContains(line, " -> ");
                          }),
            20'000);
  EXPECT_THAT(lines, Contains(HasSubstr("and 3 more pairs")));
  EXPECT_THAT(lines, Contains("  Total samples: 20003"));
}

TEST(TextSummaryTest, TwoClientsAndTwoServers) {
  EXPECT_THAT(
      SummarizeTest(TwoByTwo()),
      ElementsAre(
          "RPC latency summary:",
          "  append: N: 40 min: 30ns median: 30ns 90%: 30ns 99%: 30ns "
          "99.9%: 30ns max: 30ns",
          "  never_sent: N: 0",
          // 201 values; positions 100, 180, 198 and 200 are shown.
          "  query: N: 201 min: 1ns median: 51ns 90%: 91ns 99%: 100ns "
          "99.9%: 5000000ns max: 5000000ns",
          "Communication summary:",
          "  c/0 -> s/0: RPCs: 100 (0.05 kQPS) Request: 1.0 MiB/s "
          "Response: 5.0 MiB/s",
          "  c/0 -> s/1: RPCs: 40 (0.02 kQPS) Request: 2.0 MiB/s "
          "Response: 0.0 MiB/s",
          "  c/1 -> s/0: RPCs: 0 (0.00 kQPS) Request: 0.0 MiB/s "
          "Response: 0.0 MiB/s",
          "  c/1 -> s/1: RPCs: 101 (0.05 kQPS) Request: 1.5 MiB/s "
          "Response: 15.0 MiB/s",
          "Instance summary:",                    //
          "  c/0: Tx: 3.0 MiB/s, Rx:5.0 MiB/s",   //
          "  c/1: Tx: 1.5 MiB/s, Rx:15.0 MiB/s",  //
          "  s/0: Tx: 5.0 MiB/s, Rx:1.0 MiB/s",   //
          "  s/1: Tx: 15.0 MiB/s, Rx:3.5 MiB/s",  //
          "Global summary:",                      //
          "  Total samples: 6254",                //
          "  Failed samples: 3",                  //
          "  Warmup samples: 6010",               //
          "  Total time: 2.000s",                 //
          "  Total Tx: 49 MiB (24.5 MiB/s), Total Nb RPCs: 241 (0.12 kQPS)",
          "Generator health:",               //
          "  append: in flight: mean: 0.0",  //
          "  query: in flight: mean: 0.0",   //
          "Failures:",                       //
          "  append: 2 failed: UNAVAILABLE: connection refused",
          "  append: 1 failed: cause not recorded",
          "  The RPC latency summary leaves out the RPCs that failed"));
}

// A real run with a known summary.
TEST(TextSummaryTest, RatesOfAClientServerRun) {
  constexpr int kCount = 141'510;
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'rpc' } }");
  RpcStatistics& statistics = StatisticsOf(result, "client/0", "server/0", 0);
  statistics.set_succeeded_count(kCount);
  statistics.set_request_bytes(int64_t{196} * kCount);
  statistics.set_response_bytes(int64_t{262'144} * kCount);
  SetSpan(0, 30'012'000'000, statistics);
  // 100 RPCs in flight all the time.
  results::EncodeHistogram(
      Repeated(int64_t{30'012'000'000} * 100 / kCount, kCount),
      *statistics.mutable_service_time_ns());
  const Lines lines = SummarizeTest(result);
  EXPECT_THAT(Section(lines, "Communication summary"),
              ElementsAre("  client/0 -> server/0: RPCs: 141510 (4.72 kQPS) "
                          "Request: 0.9 MiB/s Response: 1178.8 MiB/s"));
  EXPECT_THAT(Section(lines, "Instance summary"),
              ElementsAre("  client/0: Tx: 0.9 MiB/s, Rx:1178.8 MiB/s",
                          "  server/0: Tx: 1178.8 MiB/s, Rx:0.9 MiB/s"));
  EXPECT_THAT(
      Section(lines, "Global summary"),
      ElementsAre("  Total samples: 141510", "  Failed samples: 0",
                  "  Warmup samples: 0", "  Total time: 30.012s",
                  "  Total Tx: 35403 MiB (1179.7 MiB/s), Total Nb RPCs: "
                  "141510 (4.72 kQPS)"));
  EXPECT_THAT(Section(lines, "Generator health"),
              ElementsAre("  rpc: in flight: mean: 100.0"));
}

// One is sent during the first second of five, and has 2.5 in flight then.
TEST(TextSummaryTest, RpcsInFlightAreOverTheTimeOfTheirRpc) {
  TestResult result = ResultFromText(R"(
    traffic_config {
      rpc_descriptions { name: "always" }
      rpc_descriptions { name: "at_first" }
    })");
  for (int rpc_index : {0, 1}) {
    RpcStatistics& statistics = StatisticsOf(result, "c/0", "s/0", rpc_index);
    statistics.set_succeeded_count(100);
    SetSpan(0, rpc_index == 0 ? 5 * kSecond : kSecond, statistics);
    results::EncodeHistogram(Repeated(25'000'000, 100),
                             *statistics.mutable_service_time_ns());
  }
  EXPECT_THAT(Section(SummarizeTest(result), "Generator health"),
              ElementsAre("  always: in flight: mean: 0.5",
                          "  at_first: in flight: mean: 2.5"));
}

TEST(TextSummaryTest, WarmupIsInNeitherCountsNorTime) {
  TestResult result = ResultFromText(R"(
    traffic_config { rpc_descriptions { name: "rpc" } }
    service_logs {
      instance_logs {
        key: "c/0"
        value {
          peer_logs {
            key: "s/0"
            value { rpc_logs { key: 0 value {} } }
          }
        }
      }
    })");
  RpcPerformanceLog& log = result.mutable_service_logs()
                               ->mutable_instance_logs()
                               ->at("c/0")
                               .mutable_peer_logs()
                               ->at("s/0")
                               .mutable_rpc_logs()
                               ->at(0);
  // 90 warm-up RPCs in 9 s, then 10 RPCs in 1 s.
  for (int i = 0; i < 100; ++i) {
    RpcSample& sample = *log.add_successful_rpc_samples();
    sample.set_start_timestamp_ns(kStart + i * kSecond / 10);
    sample.set_latency_ns(kSecond / 10);
    sample.set_request_size(kMiB / 2);
    sample.set_response_size(kMiB / 2);
    sample.set_warmup(i < 90);
  }
  results::AddMissingStatistics(result);
  EXPECT_THAT(Section(SummarizeTest(result), "Global summary"),
              ElementsAre("  Total samples: 100", "  Failed samples: 0",
                          "  Warmup samples: 90", "  Total time: 1.000s",
                          "  Total Tx: 10 MiB (10.0 MiB/s), Total Nb RPCs: 10 "
                          "(0.01 kQPS)"));
}

TEST(TextSummaryTest, NoTimeMeansNoRatesButEverythingElse) {
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'rpc' } }");
  RpcStatistics& statistics = StatisticsOf(result, "c/0", "s/0", 0);
  statistics.set_succeeded_count(1);
  statistics.set_request_bytes(kMiB);
  statistics.set_response_bytes(kMiB);
  SetSpan(7, 7, statistics);
  results::EncodeHistogram(UpTo(1), *statistics.mutable_service_time_ns());
  EXPECT_THAT(
      SummarizeTest(result),
      ElementsAre(
          "RPC latency summary:",
          "  rpc: N: 1 min: 1ns median: 1ns 90%: 1ns 99%: 1ns 99.9%: 1ns "
          "max: 1ns",
          "Communication summary:",
          "  c/0 -> s/0: RPCs: 1 (0.00 kQPS) Request: 0.0 MiB/s Response: "
          "0.0 MiB/s",
          "Instance summary:",                   //
          "  c/0: Tx: 0.0 MiB/s, Rx:0.0 MiB/s",  //
          "  s/0: Tx: 0.0 MiB/s, Rx:0.0 MiB/s",  //
          "Global summary:",                     //
          "  Total samples: 1",                  //
          "  Failed samples: 0",                 //
          "  Warmup samples: 0",                 //
          "  Total time: 0.000s",                //
          "  Total Tx: 2 MiB (0.0 MiB/s), Total Nb RPCs: 1 (0.00 kQPS)"));
}

TEST(TextSummaryTest, NothingMeasured) {
  EXPECT_THAT(SummarizeTest(TestResult()),
              ElementsAre("RPC latency summary:", "Communication summary:",
                          "Instance summary:", "Global summary:",
                          "  Total samples: 0", "  Failed samples: 0",
                          "  Warmup samples: 0", "  Total time: 0.000s",
                          "  Total Tx: 0 MiB (0.0 MiB/s), Total Nb RPCs: 0 "
                          "(0.00 kQPS)"));
}

TEST(TextSummaryTest, GridInstancesAreNamedAsTheyAre) {
  TestResult result;
  for (const char* client : {"g/1/0", "g/0/1", "g/0/0"}) {
    RpcStatistics& statistics = StatisticsOf(result, client, "g/1/1", 0);
    statistics.set_succeeded_count(1);
    statistics.set_request_bytes(kMiB);
    SetSpan(0, kSecond, statistics);
  }
  const Lines lines = SummarizeTest(result);
  EXPECT_THAT(
      Section(lines, "Communication summary"),
      ElementsAre("  g/0/0 -> g/1/1: RPCs: 1 (0.00 kQPS) Request: 1.0 MiB/s "
                  "Response: 0.0 MiB/s",
                  "  g/0/1 -> g/1/1: RPCs: 1 (0.00 kQPS) Request: 1.0 MiB/s "
                  "Response: 0.0 MiB/s",
                  "  g/1/0 -> g/1/1: RPCs: 1 (0.00 kQPS) Request: 1.0 MiB/s "
                  "Response: 0.0 MiB/s"));
  EXPECT_THAT(Section(lines, "Instance summary"),
              ElementsAre("  g/0/0: Tx: 1.0 MiB/s, Rx:0.0 MiB/s",
                          "  g/0/1: Tx: 1.0 MiB/s, Rx:0.0 MiB/s",
                          "  g/1/0: Tx: 1.0 MiB/s, Rx:0.0 MiB/s",
                          "  g/1/1: Tx: 0.0 MiB/s, Rx:3.0 MiB/s"));
}

TEST(TextSummaryTest, AnInstanceThatIsItsOwnPeerSendsBothWays) {
  TestResult result;
  RpcStatistics& statistics = StatisticsOf(result, "p/0", "p/0", 0);
  statistics.set_succeeded_count(1);
  statistics.set_request_bytes(kMiB);
  statistics.set_response_bytes(2 * kMiB);
  SetSpan(0, kSecond, statistics);
  EXPECT_THAT(Section(SummarizeTest(result), "Instance summary"),
              ElementsAre("  p/0: Tx: 3.0 MiB/s, Rx:3.0 MiB/s"));
}

TEST(TextSummaryTest, OpenLoopRpcsHaveResponseTimesAndLateness) {
  TestResult result = ResultFromText(R"(
    traffic_config {
      rpc_descriptions { name: "closed" }
      rpc_descriptions { name: "open" }
    })");
  for (int rpc_index : {0, 1}) {
    RpcStatistics& statistics = StatisticsOf(result, "c/0", "s/0", rpc_index);
    statistics.set_succeeded_count(100);
    SetSpan(0, kSecond, statistics);
    // 25 ms each: 2.5 s in 1 s.
    results::EncodeHistogram(Repeated(25'000'000, 100),
                             *statistics.mutable_service_time_ns());
  }
  RpcStatistics& open = StatisticsOf(result, "c/0", "s/0", 1);
  open.set_dropped_sample_count(60);
  results::EncodeHistogram(UpTo(100), *open.mutable_lateness_ns());
  results::EncodeHistogram(UpTo(120), *open.mutable_response_time_ns());
  const Lines lines = SummarizeTest(result);
  EXPECT_THAT(
      Section(lines, "Response time summary"),
      ElementsAre("  open: N: 120 min: 1ns median: 61ns 90%: 109ns 99%: 119ns "
                  "99.9%: 120ns max: 120ns"));
  EXPECT_THAT(
      Section(lines, "Generator health"),
      ElementsAre("  closed: in flight: mean: 2.5",
                  "  open: lateness: median: 51ns 99%: 100ns max: 100ns",
                  "  open: in flight: mean: 2.5",
                  "  samples not kept: 60 (counts and percentiles include "
                  "them)"));
}

TEST(TextSummaryTest, FailedAndUnsentRpcsRankAboveAllResponseTimes) {
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'rpc' } }");
  RpcStatistics& statistics = StatisticsOf(result, "c/0", "s/0", 0);
  statistics.set_succeeded_count(100);
  statistics.set_failed_count(5);
  results::EncodeHistogram(UpTo(100), *statistics.mutable_response_time_ns());
  OfferedLoad& load = (*result.mutable_service_logs()
                            ->mutable_instance_logs()
                            ->at("c/0")
                            .mutable_offered_loads())[0];
  load.set_offered_count(125);
  load.set_unsent_count(20);
  load.set_held_back_count(7);
  results::EncodeHistogram(Repeated(127, 20), *load.mutable_unsent_wait_ns());
  const Lines lines = SummarizeTest(result);
  EXPECT_THAT(
      Section(lines, "Response time summary"),
      ElementsAre("  rpc: N: 125 min: 1ns median: 63ns 90%: failed 99%: failed "
                  "99.9%: failed max: failed"));
  EXPECT_THAT(
      Section(lines, "Generator health"),
      ElementsAre("  rpc: offered: 125 sent: 105 (84.00%) unsent: 20 held "
                  "back by a cap: 7",
                  "  rpc: never sent, had waited: median: 127ns max: "
                  "127ns"));
}

TEST(TextSummaryTest, AFailedTestSaysSoFirst) {
  TestResult result = TwoByTwo();
  result.mutable_run_info()->set_failure("node1 was lost:\nSocket closed");
  const Lines lines = SummarizeTest(result);
  EXPECT_EQ(lines.front(),
            "The test failed; what it measured is incomplete: node1 was lost: "
            "Socket closed");
  EXPECT_EQ(lines[1], "RPC latency summary:");
  EXPECT_THAT(Section(lines, "Global summary"),
              Contains("  Total samples: 6254"));
}

TEST(TextSummaryTest, WhatOthersWroteDoesNotReachTheTerminalAsItIs) {
  TestResult result = TwoByTwo();
  constexpr char kHostile[] = "a\x1b[2Jb\rc\nd";
  result.mutable_run_info()->set_failure(kHostile);
  result.mutable_run_info()->add_findings()->set_message(kHostile);
  result.mutable_traffic_config()->mutable_rpc_descriptions(0)->set_name(
      kHostile);
  const std::vector<std::string> lines = SummarizeTest(result);
  EXPECT_THAT(lines, Contains(HasSubstr("incomplete: a [2Jb c d")));
  EXPECT_THAT(lines, Contains(HasSubstr("note: a [2Jb c d")));
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find_first_of("\x1b\r\n"), std::string::npos) << line;
  }
}

TEST(TextSummaryTest, DamagedStatisticsAreLeftOutAndReported) {
  TestResult result = TwoByTwo();
  StatisticsOf(result, "c/1", "s/1", 0).set_failed_count(-1);
  const Lines lines = SummarizeTest(result);
  EXPECT_THAT(Section(lines, "Communication summary"),
              Not(Contains(HasSubstr("c/1 -> s/1"))));
  EXPECT_THAT(
      Section(lines, "Findings"),
      ElementsAre(
          "  invalid (damaged_logs): 1 log is left out because its statistics "
          "are damaged; the first: query from c/1 to s/1: statistics hold -1, "
          "but all their numbers are at least 0",
          "    What to do: Do not use this result. Fetch it again from the "
          "sequencer, or repeat the run."));
}

}  // namespace
}  // namespace distbench::report
