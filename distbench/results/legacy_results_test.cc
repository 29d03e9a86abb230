// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/legacy_results.h"

#include <limits>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

using ::distbench::base::FromText;
using ::testing::ElementsAre;
using ::testing::Pair;

RpcTotals Unpacked(const RpcStatistics& statistics) {
  RpcTotals totals;
  EXPECT_TRUE(totals.Add(statistics).ok());
  return totals;
}

TEST(StatisticsFromSamplesTest, AddsUpSamples) {
  const RpcTotals totals =
      Unpacked(StatisticsFromSamples(FromText<RpcPerformanceLog>(R"(
        successful_rpc_samples {
          request_size: 16 response_size: 32
          start_timestamp_ns: 5000 latency_ns: 100
        }
        successful_rpc_samples {
          request_size: 10 response_size: 20
          start_timestamp_ns: 4000 latency_ns: 50
        }
        successful_rpc_samples {
          request_size: 999 response_size: 999
          start_timestamp_ns: 1000 latency_ns: 7 warmup: true
        }
        failed_rpc_samples { start_timestamp_ns: 9000 error_index: 2 }
        failed_rpc_samples { start_timestamp_ns: 9100 error_index: 2 }
        failed_rpc_samples { start_timestamp_ns: 9100 error_index: 1 }
        failed_rpc_samples { error_index: 1 warmup: true }
      )")));
  EXPECT_EQ(totals.counts.succeeded_count, 2);
  EXPECT_EQ(totals.counts.failed_count, 3);
  EXPECT_EQ(totals.counts.warmup_count, 2);
  EXPECT_EQ(totals.counts.request_bytes, 26);
  EXPECT_EQ(totals.counts.response_bytes, 52);
  EXPECT_EQ(totals.counts.first_start_timestamp_ns, 4000);
  EXPECT_EQ(totals.counts.last_end_timestamp_ns, 9100);
  EXPECT_EQ(totals.service_time_ns.count(), 2);
  EXPECT_EQ(totals.service_time_ns.min(), 50);
  EXPECT_EQ(totals.service_time_ns.max(), 100);
  EXPECT_EQ(totals.response_time_ns.count(), 0);
  EXPECT_EQ(totals.lateness_ns.count(), 0);
  EXPECT_THAT(totals.failures_by_error, ElementsAre(Pair(1, 1), Pair(2, 2)));
}

TEST(StatisticsFromSamplesTest, OpenLoopSamplesHaveResponseTimes) {
  const RpcTotals totals =
      Unpacked(StatisticsFromSamples(FromText<RpcPerformanceLog>(R"(
        successful_rpc_samples { latency_ns: 100 lateness_ns: 11 }
        successful_rpc_samples { latency_ns: 100 lateness_ns: 0 }
      )")));
  EXPECT_EQ(totals.lateness_ns.max(), 11);
  EXPECT_EQ(totals.response_time_ns.min(), 100);
  EXPECT_EQ(totals.response_time_ns.max(), 111);
}

TEST(StatisticsFromSamplesTest, ServiceTimesAreDivided) {
  const RpcTotals totals =
      Unpacked(StatisticsFromSamples(FromText<RpcPerformanceLog>(R"(
        successful_rpc_samples {
          latency_ns: 100 server_queue_ns: 0 server_handler_ns: 30
        }
        successful_rpc_samples {
          latency_ns: 100 server_queue_ns: 20 server_handler_ns: 90
        }
        successful_rpc_samples { latency_ns: 100 }
      )")));
  EXPECT_EQ(totals.time_parts_ns.at(TimePart::kServerQueue).sum(), 20);
  EXPECT_EQ(totals.time_parts_ns.at(TimePart::kServerHandler).sum(), 120);
  const stats::LogHistogram& network_ns =
      totals.time_parts_ns.at(TimePart::kNetwork);
  EXPECT_EQ(network_ns.count(), 2u);
  EXPECT_EQ(network_ns.min(), 0) << "never negative";
  EXPECT_EQ(network_ns.max(), 70);
}

TEST(StatisticsFromSamplesTest, SurvivesAbsurdSamples) {
  RpcPerformanceLog log;
  RpcSample& sample = *log.add_successful_rpc_samples();
  sample.set_start_timestamp_ns(std::numeric_limits<int64_t>::max());
  sample.set_latency_ns(std::numeric_limits<int64_t>::max());
  sample.set_lateness_ns(std::numeric_limits<int64_t>::max());
  sample.set_request_size(std::numeric_limits<int64_t>::max());
  *log.add_successful_rpc_samples() = sample;
  const RpcTotals totals = Unpacked(StatisticsFromSamples(log));
  EXPECT_EQ(totals.response_time_ns.overflow_count(), 2);
}

TEST(AddMissingStatisticsTest, KeepsExistingStatistics) {
  auto result = FromText<TestResult>(R"(
    service_logs {
      instance_logs {
        key: "c/0"
        value {
          peer_logs {
            key: "s/0"
            value {
              rpc_logs {
                key: 0
                value { successful_rpc_samples {} }
              }
              rpc_logs {
                key: 1
                value {
                  successful_rpc_samples {}
                  statistics { succeeded_count: 1000 }
                }
              }
            }
          }
        }
      }
    })");
  AddMissingStatistics(result);
  const auto& logs = result.service_logs()
                         .instance_logs()
                         .at("c/0")
                         .peer_logs()
                         .at("s/0")
                         .rpc_logs();
  EXPECT_EQ(logs.at(0).statistics().succeeded_count(), 1);
  EXPECT_EQ(logs.at(1).statistics().succeeded_count(), 1000);
}

TEST(FitToOlderToolsTest, KeepsWhoSentOrLogged) {
  auto logs = FromText<ServiceLogs>(R"(
    instance_logs { key: "caller" value { peer_logs { key: "s" value {} } } }
    instance_logs { key: "worker" value { activity_logs { key: "a" } } }
    instance_logs { key: "replayer" value { replay_trace_logs {} } }
    instance_logs { key: "failed" value { engine_error_message: "bad" } }
    instance_logs {
      key: "server"
      value {
        error_dictionary { error_message: "" }
        driver_counters { key: "rpcs_received" value: 3 }
      }
    })");
  FitToOlderTools(logs);
  EXPECT_EQ(logs.instance_logs_size(), 4);
  EXPECT_EQ(logs.instance_logs().count("server"), 0);
}

TEST(FitToOlderToolsTest, ActivitiesHaveTheirIterationsOnly) {
  auto logs = FromText<ServiceLogs>(R"(
    instance_logs {
      key: "worker"
      value {
        activity_logs {
          key: "burn"
          value {
            activity_metrics { name: "checksum" value_int: 7 }
            activity_metrics { name: "iteration_count" value_int: 3 }
            activity_metrics { name: "read_bytes" value_int: 9 }
          }
        }
      }
    })");
  FitToOlderTools(logs);
  const ActivityLog& log =
      logs.instance_logs().at("worker").activity_logs().at("burn");
  ASSERT_EQ(log.activity_metrics_size(), 1);
  EXPECT_EQ(log.activity_metrics(0).name(), "iteration_count");
  EXPECT_EQ(log.activity_metrics(0).value_int(), 3);
}

TEST(DropExtensionsTest, LeavesWhatExistingProgramsKnow) {
  auto results = FromText<TestSequenceResults>(R"(
    test_results {
      traffic_config {
        name: "t"
        random_seed: 7
        rpc_descriptions { name: "query" client: "c" server: "s" }
      }
      service_logs {
        instance_logs {
          key: "c/0"
          value {
            peer_logs {
              key: "s/0"
              value {
                rpc_logs {
                  key: 0
                  value {
                    successful_rpc_samples { latency_ns: 5 lateness_ns: 6 }
                    statistics { succeeded_count: 1 }
                  }
                }
                replay_logs { key: 1 value {} }
              }
            }
            driver_counters { key: "rpcs_sent" value: 3 }
          }
        }
        instance_logs { key: "s/0" value { error_dictionary {} } }
      }
      log_summary: "RPC latency summary:"
      run_info { version: "1" }
    }
    searches {})");
  DropExtensions(results);
  const auto expected = FromText<TestSequenceResults>(R"(
    test_results {
      traffic_config {
        name: "t"
        rpc_descriptions { name: "query" client: "c" server: "s" }
      }
      service_logs {
        instance_logs {
          key: "c/0"
          value {
            peer_logs {
              key: "s/0"
              value {
                rpc_logs {
                  key: 0
                  value { successful_rpc_samples { latency_ns: 5 } }
                }
              }
            }
          }
        }
      }
      log_summary: "RPC latency summary:"
    })");
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(results, expected))
      << results.DebugString();
}

}  // namespace
}  // namespace distbench::results
