// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests of the sections of the text summary other than those with RPC figures,
// of policies and of faults.

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/report/text/text_summary.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TextSummaryTest, HostsAreSummedUpOverTheirSamples) {
  const TestResult result = ResultFromText(R"(
    resource_usage_logs {
      node_usages { key: "node0" value {} }
      node_resources {
        key: "node0"
        value {
          host { hostname: "h" online_cpu_count: 4 }
          samples {
            duration_ns: 1000000000
            host_cpu_ns: 1000000000
            network {
              key: "eth0"
              value { sent_bytes: 1048576 received_bytes: 4194304 }
            }
          }
          samples { duration_ns: 1000000000 host_cpu_ns: 3000000000 }
        }
      }
    })");
  EXPECT_THAT(
      Section(SummarizeTest(result), "Resources"),
      ElementsAre(
          "  node0: CPU: 0.00s (user: 0.00s system: 0.00s) max RSS: 0.0 MiB",
          "  node0: host h: CPU: 50% of 4 (busiest second: 75%) network Tx: "
          "0.5 MiB/s, Rx: 2.0 MiB/s"));
}

TEST(TextSummaryTest, AHostIsNeverBusierThanAllOfItsCpus) {
  const TestResult result = ResultFromText(R"(
    resource_usage_logs {
      node_usages { key: "node0" value {} }
      node_resources {
        key: "node0"
        value {
          host { hostname: "h" online_cpu_count: 2 }
          samples { duration_ns: 1000000000 host_cpu_ns: 2020000000 }
        }
      }
    })");
  EXPECT_THAT(Section(SummarizeTest(result), "Resources"),
              Contains(HasSubstr("CPU: 100% of 2 (busiest second: 100%)")));
}

TEST(TextSummaryTest, StreamsHaveTheirMessages) {
  TestResult result = ResultFromText(R"(
    traffic_config { rpc_descriptions { name: "talk" stream {} } }
    service_logs {
      instance_logs {
        key: "client/0"
        value {
          peer_logs {
            key: "server/0"
            value { rpc_logs { key: 0 value { statistics {} } } }
          }
          stream_statistics {
            key: 0
            value {
              stream_count: 2
              request_messages: 3
              response_messages: 4
              request_bytes: 500
              response_bytes: 600
              gap_ns {
                sub_bucket_bits: 7
                bucket_index_deltas: 50
                bucket_counts: 2
                min: 50
                max: 50
                sum: 100
                sum_of_squares: 5000
              }
            }
          }
        }
      }
    })");
  EXPECT_THAT(
      Section(SummarizeTest(result), "Streams"),
      ElementsAre(
          "  talk: streams: 2 requests: 3 (500 bytes) responses: 4 (600 bytes)",
          "  talk: gap: N: 2 mean: 50ns median: 50ns 90%: 50ns 99%: 50ns max: "
          "50ns"));
  result.mutable_service_logs()
      ->mutable_instance_logs()
      ->at("client/0")
      .clear_stream_statistics();
  EXPECT_THAT(Section(SummarizeTest(result), "Streams"), ElementsAre());
}

TEST(TextSummaryTest, ResourcesByNode) {
  const TestResult result = ResultFromText(R"(
    resource_usage_logs {
      test_sequencer_usage {
        rusage_diff {
          user_cpu_time_seconds: 0.5
          max_resident_set_size: 1024
        }
      }
      node_usages {
        key: "node1"
        value {
          rusage_start { max_resident_set_size: 10240 }
          rusage_diff {
            user_cpu_time_seconds: 10
            system_cpu_time_seconds: 2.25
            max_resident_set_size: 15872
          }
        }
      }
      node_usages { key: "node0" value {} }
    })");
  EXPECT_THAT(
      Section(SummarizeTest(result), "Resources"),
      ElementsAre(
          "  node0: CPU: 0.00s (user: 0.00s system: 0.00s) max RSS: 0.0 MiB",
          "  node1: CPU: 12.25s (user: 10.00s system: 2.25s) max RSS: 15.5 "
          "MiB",
          "  test_sequencer: CPU: 0.50s (user: 0.50s system: 0.00s) max RSS: "
          "1.0 MiB"));
}

TEST(TextSummaryTest, TimePartsAreInTheOrderOfAnRpc) {
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'query' } }");
  results::RpcTotals totals;
  totals.counts.succeeded_count = 2;
  for (const int64_t time_ns : {10, 30}) {
    totals.service_time_ns.Record(3 * time_ns);
    for (const results::TimePart part : results::kTimeParts) {
      totals.time_parts_ns[part].Record(time_ns);
    }
  }
  totals.Encode(StatisticsOf(result, "c/0", "s/0", 0));
  EXPECT_THAT(
      Section(SummarizeTest(result), "Time parts"),
      ElementsAre("  query: network: N: 2 mean: 20ns median: 30ns 90%: 30ns "
                  "99%: 30ns max: 30ns",
                  "  query: server_queue: N: 2 mean: 20ns median: 30ns 90%: "
                  "30ns 99%: 30ns max: 30ns",
                  "  query: server_handler: N: 2 mean: 20ns median: 30ns 90%: "
                  "30ns 99%: 30ns max: 30ns"));
  totals.lateness_ns.Record(7);
  totals.Encode(StatisticsOf(result, "c/0", "s/0", 0));
  EXPECT_EQ(Section(SummarizeTest(result), "Time parts").front(),
            "  query: lateness: N: 1 mean: 7ns median: 7ns 90%: 7ns 99%: 7ns "
            "max: 7ns");
  totals.time_parts_ns.clear();
  totals.Encode(StatisticsOf(result, "c/0", "s/0", 0));
  EXPECT_TRUE(Section(SummarizeTest(result), "Time parts").empty());
}

TEST(TextSummaryTest, WireTimesSayHowManyRpcsHaveThem) {
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'query' } }");
  results::RpcTotals totals;
  totals.counts.succeeded_count = 4;
  totals.service_time_ns.RecordN(100, 4);
  totals.Encode(StatisticsOf(result, "c/0", "s/0", 0));
  EXPECT_TRUE(Section(SummarizeTest(result), "Wire time summary").empty());
  totals.time_parts_ns[results::TimePart::kWire].RecordN(30, 2);
  totals.counts.wire_shared_count = 1;
  totals.Encode(StatisticsOf(result, "c/0", "s/0", 0));
  EXPECT_THAT(Section(SummarizeTest(result), "Wire time summary"),
              ElementsAre("  query: N: 2 min: 30ns median: 30ns 90%: 30ns 99%: "
                          "30ns 99.9%: 30ns max: 30ns (stamped: 50.00% of the "
                          "RPCs; sharing a stamp: 50.00% of these)"));
}

TEST(TextSummaryTest, CausesOfFailuresAreSortedAndLimited) {
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'rpc' } }");
  // Instances number the same causes differently.
  for (const char* client : {"c/0", "c/1"}) {
    RpcStatistics& statistics = StatisticsOf(result, client, "s/0", 0);
    auto& errors = *result.mutable_service_logs()
                        ->mutable_instance_logs()
                        ->at(client)
                        .mutable_error_dictionary();
    errors.add_error_message("");
    for (int i = 1; i <= 12; ++i) {
      const int cause = client == absl::string_view("c/0") ? i : 13 - i;
      errors.add_error_message(absl::StrCat("cause ", cause));
      (*statistics.mutable_failures_by_error())[i] = cause;
    }
    statistics.set_failed_count(78);
  }
  EXPECT_THAT(
      Section(SummarizeTest(result), "Failures"),
      ElementsAre("  rpc: 24 failed: cause 12", "  rpc: 22 failed: cause 11",
                  "  rpc: 20 failed: cause 10", "  rpc: 18 failed: cause 9",
                  "  rpc: 16 failed: cause 8", "  rpc: 14 failed: cause 7",
                  "  rpc: 12 failed: cause 6", "  rpc: 10 failed: cause 5",
                  "  rpc: 8 failed: cause 4", "  rpc: 6 failed: cause 3",
                  "  rpc: 6 failed: 2 more causes",
                  "  The RPC latency summary leaves out the RPCs that failed"));
}

TEST(TextSummaryTest, InstancesThatStoppedEarlyAreNamed) {
  const TestResult result = ResultFromText(R"(
    service_logs {
      instance_logs { key: "c/2" value { engine_error_message: "overload" } }
      instance_logs { key: "c/0" value { engine_error_message: "overload" } }
      instance_logs { key: "c/1" value {} }
      instance_logs { key: "c/3" value { engine_error_message: "done" } }
    })");
  EXPECT_THAT(Section(SummarizeTest(result), "Failures"),
              ElementsAre("  c/3: stopped early: done",
                          "  c/0 and 1 more: stopped early: overload"));
}

TEST(TextSummaryTest, DriverCountersAreAddedUp) {
  const TestResult result = ResultFromText(R"(
    service_logs {
      instance_logs {
        key: "client/0"
        value {
          driver_counters { key: "rpcs_sent" value: 10 }
          driver_counters { key: "rpcs_failed" value: 0 }
        }
      }
      instance_logs {
        key: "client/1"
        value { driver_counters { key: "rpcs_sent" value: 5 } }
      }
    })");
  EXPECT_THAT(Section(SummarizeTest(result), "Driver counters"),
              ElementsAre("  rpcs_failed: 0 (instances: 1)",
                          "  rpcs_sent: 15 (instances: 2)"));
}

TEST(TextSummaryTest, NetworkSettingsAreThoseReadBack) {
  const TestResult result = ResultFromText(R"(
    service_logs {
      instance_logs {
        key: "client/0"
        value {
          network_settings {
            connection_count: 4
            settings { name: "dscp" asked: "10" found: "10" }
          }
        }
      }
    })");
  EXPECT_THAT(Section(SummarizeTest(result), "Network settings"),
              ElementsAre("  all 4 connections that client made: dscp 10"));
}

TEST(TextSummaryTest, ActivitiesAreAddedUp) {
  const TestResult result = ResultFromText(R"(
    service_logs {
      instance_logs {
        key: "leaf/0"
        value {
          activity_logs {
            key: "rank"
            value {
              activity_metrics { name: "iteration_count" value_int: 2 }
              activity_metrics { name: "output_bytes" value_int: 70 }
              duration_ns {
                sub_bucket_bits: 7 bucket_index_deltas: 100
                bucket_counts: 2 min: 100 max: 100 sum: 200
                sum_of_squares: 20000
              }
            }
          }
        }
      }
      instance_logs {
        key: "leaf/1"
        value {
          activity_logs {
            key: "rank"
            value { activity_metrics { name: "iteration_count" value_int: 3 } }
          }
        }
      }
    })");
  EXPECT_THAT(Section(SummarizeTest(result), "Activities"),
              ElementsAre("  rank: N: 5 (instances: 2) duration: median: 100ns "
                          "99%: 100ns max: 100ns output_bytes: 70"));
}

TEST(TextSummaryTest, FindingsAreListedWorstFirst) {
  const TestResult result = ResultFromText(R"(
    run_info {
      findings { severity: NOTE message: "n" }
      findings { severity: WARN code: "w" message: "w1" advice: "Mend." }
      findings { severity: INVALID code: "c" message: "i" }
      findings { severity: WARN code: "v" message: "v1" }
      findings { severity: WARN code: "w" message: "w2" advice: "Mend." }
    })");
  EXPECT_THAT(
      Section(SummarizeTest(result), "Findings"),
      ElementsAre("  invalid (c): i", "  warn (w): w1", "  warn (w): w2",
                  "    What to do: Mend.", "  warn (v): v1", "  note: n"));
}

}  // namespace

// Tests of the sections of the text summary about policies of callers and
// faults of servers.

namespace {

TEST(TextSummaryTest, PlannedFaultsComeFirstAndAreListed) {
  const TestResult result = ResultFromText(R"(
    traffic_config {
      services { name: "server" admission { max_running: 1 } }
      server_faults { name: "pause" service: "server" freeze: true }
      server_faults {
        name: "cut"
        service: "server"
        repeat_ns: 1000000000
        reset_connections: true
      }
    }
    run_info { start_timestamp_ns: 1000000000 }
    service_logs {
      instance_logs {
        key: "server/0"
        value {
          fault_logs {
            key: "pause"
            value {
              times {
                begin_timestamp_ns: 1500000000
                end_timestamp_ns: 1800000000
              }
            }
          }
          fault_logs {
            key: "cut"
            value {
              connection_count: 2
              times { begin_timestamp_ns: 2000000000 end_timestamp_ns: 2000000000 }
              times { begin_timestamp_ns: 3000000000 end_timestamp_ns: 3000000000 }
              times { begin_timestamp_ns: 4000000000 end_timestamp_ns: 4000000000 }
              times { begin_timestamp_ns: 5000000000 end_timestamp_ns: 5000000000 }
              times { begin_timestamp_ns: 6000000000 end_timestamp_ns: 6000000000 }
              times { begin_timestamp_ns: 7000000000 end_timestamp_ns: 7000000000 }
            }
          }
          admission_log {
            admitted_count: 2
            refused_count: 5
            wait_ns {
              sub_bucket_bits: 7
              bucket_index_deltas: 50
              bucket_counts: 2
              min: 50
              max: 50
              sum: 100
              sum_of_squares: 5000
            }
          }
        }
      }
    })");
  const std::vector<std::string> lines = SummarizeTest(result);
  EXPECT_THAT(lines[0], HasSubstr("Servers failed on purpose"));
  EXPECT_THAT(
      Section(lines, "Planned faults"),
      ElementsAre("  pause: server stands still: times: 1 requests: 0 "
                  "connections: 0 at: 0.500-0.800s",
                  "  cut: server breaks its connections: times: 6 requests: 0 "
                  "connections: 2 at: 1.000s, 2.000s, 3.000s, 4.000s, 5.000s "
                  "and 1 more"));
  EXPECT_THAT(Section(lines, "Admission"),
              ElementsAre("  server: admitted: 2 refused: 5 wait: mean: 50ns "
                          "median: 50ns 99%: 50ns max: 50ns"));
}

TEST(TextSummaryTest, PoliciesHaveWhatTheirAttemptsCost) {
  TestResult result = ResultFromText(R"(
    traffic_config { rpc_descriptions { name: "get" policy {} } }
    service_logs {
      instance_logs {
        key: "client/0"
        value {
          peer_logs {
            key: "server/0"
            value {
              rpc_logs {
                key: 0
                value {
                  statistics {
                    succeeded_count: 80
                    failed_count: 20
                    first_start_timestamp_ns: 1000000000
                    last_end_timestamp_ns: 5000000000
                  }
                }
              }
            }
          }
          offered_loads { key: 0 value { offered_count: 120 unsent_count: 20 } }
          policy_statistics {
            key: 0
            value {
              request_count: 100
              attempt_count: 160
              retry_count: 60
              succeeded_attempt_count: 80
              failed_attempt_count: 80
              refused_by_budget_count: 7
              attempt_time_ns {
                sub_bucket_bits: 7
                bucket_index_deltas: 50
                bucket_counts: 2
                min: 50
                max: 50
                sum: 100
                sum_of_squares: 5000
              }
              concurrency_limit { count: 4 min: 8 max: 12 sum: 42 }
            }
          }
        }
      }
    })");
  EXPECT_THAT(
      Section(SummarizeTest(result), "Policies"),
      ElementsAre("  get: offered: 30.0/s goodput: 20.0/s requests: 100 "
                  "attempts: 160 amplification: 1.600 wasted: 50.00%",
                  "  get: retries: 60 failed attempts: 80 refused by budget: 7",
                  "  get: attempts: N: 2 median: 50ns 90%: 50ns 99%: 50ns max: "
                  "50ns",
                  "  get: concurrency limit: mean: 10.5 min: 8 max: 12"));
  result.mutable_service_logs()
      ->mutable_instance_logs()
      ->at("client/0")
      .clear_policy_statistics();
  EXPECT_THAT(Section(SummarizeTest(result), "Policies"), ElementsAre());
}

// 100 RPCs are due in each of 40 seconds. The server is frozen in two of them,
// the seconds 10 and 30; goodput is low in some.
template <typename IsLow>
TestResult FrozenTwice(IsLow is_low) {
  TestResult result = ResultFromText(R"(
    traffic_config { rpc_descriptions { name: "get" } }
    service_logs {
      instance_logs { key: "client/0" value {} }
      instance_logs {
        key: "server/0"
        value {
          fault_logs {
            key: "freeze"
            value {
              times { begin_timestamp_ns: 1010000000000
                      end_timestamp_ns: 1011000000000 }
              times { begin_timestamp_ns: 1030000000000
                      end_timestamp_ns: 1031000000000 }
            }
          }
        }
      }
    })");
  RpcTimeSeries& series = (*result.mutable_service_logs()
                                ->mutable_instance_logs()
                                ->at("client/0")
                                .mutable_rpc_time_series())[0];
  series.set_interval_ns(1'000'000'000);
  for (int i = 0; i < 40; ++i) {
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(1000 + i);
    interval.set_offered_count(100);
    interval.set_sent_count(100);
    interval.set_succeeded_count(is_low(i) ? 10 : 100);
    interval.set_failed_count(is_low(i) ? 90 : 0);
  }
  return result;
}

// After the first freeze, goodput is low for three seconds more.
TEST(TextSummaryTest, RecoveryFromFaultsIsToldByRpc) {
  TestResult result =
      FrozenTwice([](int i) { return (i >= 10 && i < 14) || i >= 30; });
  EXPECT_THAT(Section(SummarizeTest(result), "Recovery"),
              ElementsAre("  get after freeze: times: 2 lowered goodput: 2 "
                          "recovered: 1 (median: 3.0s max: 3.0s) never within "
                          "the run: 1 (8.0s)"));
  result.mutable_service_logs()
      ->mutable_instance_logs()
      ->at("server/0")
      .clear_fault_logs();
  EXPECT_THAT(Section(SummarizeTest(result), "Recovery"), ElementsAre());
}

TEST(TextSummaryTest, TheMedianOfTwoRecoveriesIsTheirMean) {
  const TestResult result = FrozenTwice(
      [](int i) { return (i >= 10 && i < 12) || (i >= 30 && i < 35); });
  EXPECT_THAT(Section(SummarizeTest(result), "Recovery"),
              ElementsAre("  get after freeze: times: 2 lowered goodput: 2 "
                          "recovered: 2 (median: 2.5s max: 4.0s)"));
}

}  // namespace
}  // namespace distbench::report
