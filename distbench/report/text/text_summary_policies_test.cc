// Tests of the sections of the text summary about policies of callers and
// faults of servers.

#include <string>

#include "distbench/report/testing/report_testing.h"
#include "distbench/report/testing/text_summary_testing.h"
#include "distbench/report/text/text_summary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

// 100 RPCs are due in each of 40 seconds. The server is frozen in two of them;
// after the first freeze, goodput is low for three seconds more.
TEST(TextSummaryTest, RecoveryFromFaultsIsToldByRpc) {
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
    const bool is_low = (i >= 10 && i < 14) || i >= 30;
    interval.set_succeeded_count(is_low ? 10 : 100);
    interval.set_failed_count(is_low ? 90 : 0);
  }
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

}  // namespace
}  // namespace distbench::report
