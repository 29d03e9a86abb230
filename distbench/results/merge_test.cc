// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/merge.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

using ::distbench::base::FromText;
using ::google::protobuf::util::MessageDifferencer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Statistics of some RPCs, whatever they are. Small enough for sums to be exact
// in any order.
RpcStatistics RandomStatistics(std::mt19937_64& random) {
  RpcTotals totals;
  const int count = random() % 50;
  for (int i = 0; i < count; ++i) {
    const int64_t latency = random() % 100'000;
    const int64_t start = 1'000'000 + random() % 1'000'000;
    RpcCounts counts;
    counts.succeeded_count = 1;
    counts.request_bytes = random() % 1'000;
    counts.response_bytes = random() % 1'000;
    counts.first_start_timestamp_ns = start;
    counts.last_end_timestamp_ns = start + latency;
    totals.counts.Add(counts);
    totals.service_time_ns.Record(latency);
    if (random() % 2 == 0) {
      totals.lateness_ns.Record(random() % 100);
      totals.response_time_ns.Record(latency + random() % 100);
    }
    ++totals.failures_by_error[random() % 4];
    ++totals.counts.failed_count;
  }
  RpcStatistics statistics;
  totals.Encode(statistics);
  return statistics;
}

TEST(MergeStatisticsTest, OrderDoesNotMatter) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<RpcStatistics> pieces;
    for (int i = 0; i < 5; ++i) {
      pieces.push_back(RandomStatistics(random));
    }
    RpcStatistics in_order;
    for (const RpcStatistics& piece : pieces) {
      ASSERT_TRUE(MergeStatistics(piece, in_order).ok());
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    RpcStatistics shuffled;
    for (const RpcStatistics& piece : pieces) {
      ASSERT_TRUE(MergeStatistics(piece, shuffled).ok());
    }
    ASSERT_TRUE(MessageDifferencer::Equals(in_order, shuffled))
        << in_order.DebugString() << shuffled.DebugString();

    // Merges the merged pieces of two nodes.
    RpcStatistics left = pieces[0];
    ASSERT_TRUE(MergeStatistics(pieces[1], left).ok());
    RpcStatistics right = pieces[2];
    ASSERT_TRUE(MergeStatistics(pieces[3], right).ok());
    ASSERT_TRUE(MergeStatistics(pieces[4], right).ok());
    ASSERT_TRUE(MergeStatistics(right, left).ok());
    ASSERT_TRUE(MessageDifferencer::Equals(left, shuffled));
  }
}

TEST(MergeStatisticsTest, LeavesTheTargetAloneOnError) {
  const auto before = FromText<RpcStatistics>("succeeded_count: 1");
  RpcStatistics into = before;
  const auto bad = FromText<RpcStatistics>("succeeded_count: -1");
  EXPECT_EQ(MergeStatistics(bad, into).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(MessageDifferencer::Equals(into, before));
}

TEST(MergeChunkTest, PutsPiecesInTheirPlaces) {
  ServiceLogs logs;
  for (const char* text : {
           R"(instance: "c/0" peer: "s/0" rpc_index: 1
              rpc_log {
                successful_rpc_samples { latency_ns: 1 }
                failed_rpc_samples { error_index: 1 }
                statistics { succeeded_count: 1 failed_count: 1 }
              })",
           R"(instance: "c/0" peer: "s/0" rpc_index: 0
              rpc_log { statistics { succeeded_count: 7 } })",
           R"(instance: "c/1" peer: "s/0" rpc_index: 1
              rpc_log { statistics { succeeded_count: 8 } })",
           R"(instance: "c/0" peer: "s/0" rpc_index: 1
              rpc_log {
                successful_rpc_samples { latency_ns: 2 }
                successful_rpc_samples { latency_ns: 3 }
                statistics { succeeded_count: 2 }
              })",
           R"(instance: "c/0"
              instance_log {
                activity_logs {
                  key: "burn"
                  value { activity_metrics { name: "n" value_int: 4 } }
                }
                activity_logs {
                  key: "grow"
                  value {
                    series {
                      interval_ns: 5
                      intervals { index: 1 completed_count: 1 }
                    }
                  }
                }
                error_dictionary { error_message: "" error_message: "bad" }
                engine_error_message: "stopped"
                driver_counters { key: "rpcs_sent" value: 3 }
                network_settings { connection_count: 2 }
                replay_trace_logs { rpc_replay_trace_name: "t" }
              })",
           R"(instance: "c/0"
              instance_log {
                activity_logs {
                  key: "burn"
                  value {
                    series {
                      interval_ns: 5
                      intervals { index: 1 completed_count: 3 }
                    }
                  }
                }
              })",
           R"(instance: "c/0"
              instance_log {
                activity_logs {
                  key: "burn"
                  value {
                    series {
                      interval_ns: 5
                      intervals { index: 2 completed_count: 4 }
                    }
                  }
                }
              })",
       }) {
    const absl::Status status = MergeChunk(FromText<ResultChunk>(text), logs);
    ASSERT_TRUE(status.ok()) << status;
  }
  // Only the sums show that statistics were added; everything else is zero.
  const auto expected = FromText<ServiceLogs>(R"(
    instance_logs {
      key: "c/0"
      value {
        peer_logs {
          key: "s/0"
          value {
            rpc_logs {
              key: 0
              value { statistics { succeeded_count: 7 } }
            }
            rpc_logs {
              key: 1
              value {
                successful_rpc_samples { latency_ns: 1 }
                successful_rpc_samples { latency_ns: 2 }
                successful_rpc_samples { latency_ns: 3 }
                failed_rpc_samples { error_index: 1 }
                statistics {
                  succeeded_count: 3
                  failed_count: 1
                  warmup_count: 0
                  request_bytes: 0
                  response_bytes: 0
                  dropped_sample_count: 0
                }
              }
            }
          }
        }
        activity_logs {
          key: "burn"
          value {
            activity_metrics { name: "n" value_int: 4 }
            series {
              interval_ns: 5
              intervals { index: 1 completed_count: 3 }
              intervals { index: 2 completed_count: 4 }
            }
          }
        }
        activity_logs {
          key: "grow"
          value {
            series {
              interval_ns: 5
              intervals { index: 1 completed_count: 1 }
            }
          }
        }
        error_dictionary { error_message: "" error_message: "bad" }
        engine_error_message: "stopped"
        driver_counters { key: "rpcs_sent" value: 3 }
        network_settings { connection_count: 2 }
        replay_trace_logs { rpc_replay_trace_name: "t" }
      }
    }
    instance_logs {
      key: "c/1"
      value {
        peer_logs {
          key: "s/0"
          value {
            rpc_logs {
              key: 1
              value { statistics { succeeded_count: 8 } }
            }
          }
        }
      }
    })");
  EXPECT_TRUE(MessageDifferencer::Equals(logs, expected)) << logs.DebugString();
}

TEST(MergeChunkTest, KeepsReplaysApartFromRpcs) {
  ServiceLogs logs;
  for (const char* text :
       {R"(instance: "c/0" peer: "s/0" rpc_index: 0
           rpc_log { statistics { succeeded_count: 1 } })",
        R"(instance: "c/0" peer: "s/0" rpc_index: 1 is_replay: true
           rpc_log { statistics { succeeded_count: 2 } })",
        R"(instance: "c/0" peer: "s/0" rpc_index: 1 is_replay: true
           rpc_log { statistics { succeeded_count: 3 } })"}) {
    ASSERT_TRUE(MergeChunk(FromText<ResultChunk>(text), logs).ok());
  }
  const PeerPerformanceLog& peer =
      logs.instance_logs().at("c/0").peer_logs().at("s/0");
  EXPECT_EQ(peer.rpc_logs().size(), 1);
  EXPECT_EQ(peer.rpc_logs().at(0).statistics().succeeded_count(), 1);
  EXPECT_EQ(peer.replay_logs().at(1).statistics().succeeded_count(), 5);
}

TEST(MergeChunkTest, StatisticsMayComeAfterSamples) {
  ServiceLogs logs;
  const auto samples = FromText<ResultChunk>(R"(
    instance: "c/0" peer: "s/0" rpc_index: 0
    rpc_log { successful_rpc_samples { latency_ns: 1 } })");
  const auto statistics = FromText<ResultChunk>(R"(
    instance: "c/0" peer: "s/0" rpc_index: 0
    rpc_log { statistics { succeeded_count: 1 } })");
  ASSERT_TRUE(MergeChunk(samples, logs).ok());
  const RpcPerformanceLog& log =
      logs.instance_logs().at("c/0").peer_logs().at("s/0").rpc_logs().at(0);
  EXPECT_FALSE(log.has_statistics());
  ASSERT_TRUE(MergeChunk(statistics, logs).ok());
  ASSERT_TRUE(MergeChunk(samples, logs).ok());
  EXPECT_EQ(log.successful_rpc_samples_size(), 2);
  EXPECT_EQ(log.statistics().succeeded_count(), 1);
}

struct BadChunk {
  std::string name;
  std::string text;
  std::string expected_error;
};

class BadChunkTest : public testing::TestWithParam<BadChunk> {};

TEST_P(BadChunkTest, IsRefusedAsAWhole) {
  ServiceLogs logs;
  const absl::Status status =
      MergeChunk(FromText<ResultChunk>(GetParam().text), logs);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(GetParam().expected_error));
  EXPECT_THAT(logs.instance_logs(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, BadChunkTest,
    testing::Values(
        BadChunk{"NoInstance", R"(peer: "s/0" rpc_index: 0 rpc_log {})",
                 "does not say of which instance"},
        BadChunk{"NoPeer", R"(instance: "c/0" rpc_index: 0 rpc_log {})",
                 "c/0 does not say which RPC to which peer"},
        BadChunk{"NoRpc", R"(instance: "c/0" peer: "s/0" rpc_log {})",
                 "does not say which RPC"},
        BadChunk{"NegativeRpc",
                 R"(instance: "c/0" peer: "s/0" rpc_index: -1 rpc_log {})",
                 "does not say which RPC"},
        BadChunk{"PeersInInstanceLog",
                 R"(instance: "c/0" instance_log { peer_logs { key: "s/0" } })",
                 "logs on peers"},
        BadChunk{"BadStatistics",
                 R"(instance: "c/0" peer: "s/0" rpc_index: 2
                    rpc_log { statistics { failed_count: -1 } })",
                 "log of c/0 on RPC 2 to s/0: statistics hold -1"}),
    [](const auto& info) { return info.param.name; });

TEST(MergeChunkTest, PooledStatisticsAddUp) {
  ServiceLogs logs;
  const auto chunk = FromText<ResultChunk>(R"(
    instance: "c/0"
    instance_log { pooled_statistics { key: 2 value { succeeded_count: 3 } } })");
  ASSERT_TRUE(MergeChunk(chunk, logs).ok());
  ASSERT_TRUE(MergeChunk(chunk, logs).ok());
  EXPECT_EQ(logs.instance_logs()
                .at("c/0")
                .pooled_statistics()
                .at(2)
                .succeeded_count(),
            6);
  const auto bad = FromText<ResultChunk>(R"(
    instance: "c/0"
    instance_log { pooled_statistics { key: 2 value { failed_count: -1 } } })");
  EXPECT_FALSE(MergeChunk(bad, logs).ok());
}

// ---- Logs of instances ------------------------------------------------------

// Of an instance's log.
absl::Status MergeInstanceLog(const ServicePerformanceLog& from,
                              ServicePerformanceLog& into) {
  ServiceLogs logs;
  (*logs.mutable_instance_logs())["s/0"] = into;
  ResultChunk chunk;
  chunk.set_instance("s/0");
  *chunk.mutable_instance_log() = from;
  const absl::Status status = MergeChunk(chunk, logs);
  into = logs.instance_logs().at("s/0");
  return status;
}

FaultLog LogOfFault(int64_t requests, int64_t begin_ns, int64_t end_ns) {
  FaultLog log;
  log.set_request_count(requests);
  log.set_connection_count(1);
  FaultTime& time = *log.add_times();
  time.set_begin_timestamp_ns(begin_ns);
  time.set_end_timestamp_ns(end_ns);
  return log;
}

AdmissionLog LogOfAdmission(int64_t wait_ns) {
  AdmissionLog log;
  log.set_admitted_count(2);
  log.set_refused_count(3);
  stats::LogHistogram histogram;
  histogram.Record(wait_ns);
  EncodeHistogram(histogram, *log.mutable_wait_ns());
  return log;
}

StreamStatistics OneStream() {
  StreamStatistics statistics;
  statistics.set_stream_count(1);
  statistics.set_response_bytes(600);
  stats::LogHistogram gap_ns;
  gap_ns.Record(20);
  EncodeHistogram(gap_ns, *statistics.mutable_gap_ns());
  return statistics;
}

TEST(ClientLogTest, StreamsAndPoliciesAddUp) {
  ServicePerformanceLog sum;
  ServicePerformanceLog piece;
  (*piece.mutable_stream_statistics())[4] = OneStream();
  (*piece.mutable_policy_statistics())[5] =
      FromText<PolicyStatistics>("request_count: 2 attempt_count: 3");
  ASSERT_TRUE(MergeInstanceLog(piece, sum).ok());
  ASSERT_TRUE(MergeInstanceLog(piece, sum).ok());
  const StreamStatistics& streams = sum.stream_statistics().at(4);
  EXPECT_EQ(streams.stream_count(), 2);
  EXPECT_EQ(streams.response_bytes(), 1200);
  EXPECT_EQ(HistogramOf(streams.gap_ns()).count(), 2u);
  const PolicyStatistics& policy = sum.policy_statistics().at(5);
  EXPECT_EQ(policy.request_count(), 4);
  EXPECT_EQ(policy.attempt_count(), 6);
}

TEST(ClientLogTest, StreamsThatAreInvalidAddNothing) {
  for (const auto& [text, error] :
       {std::pair("stream_count: 1 response_messages: -1",
                  "of streams have a negative count"),
        std::pair("stream_count: 1 gap_ns { bucket_index_deltas: 5 }",
                  "gap_ns of streams: ")}) {
    ServicePerformanceLog sum;
    (*sum.mutable_stream_statistics())[4] = OneStream();
    ServicePerformanceLog piece;
    (*piece.mutable_stream_statistics())[4] = FromText<StreamStatistics>(text);
    const absl::Status status = MergeInstanceLog(piece, sum);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(error));
    EXPECT_TRUE(
        MessageDifferencer::Equals(sum.stream_statistics().at(4), OneStream()));
  }
}

TEST(ClientLogTest, PoliciesThatAreInvalidAddNothing) {
  for (const auto& [text, error] :
       {std::pair("request_count: 1 retry_count: -1",
                  "of policies have a negative count"),
        std::pair("attempt_time_ns { bucket_index_deltas: 5 }",
                  "attempt_time_ns of policies: "),
        std::pair("concurrency_limit { count: 1 min: 3 max: 2 }",
                  "contradict themselves")}) {
    const auto before = FromText<PolicyStatistics>("request_count: 1");
    ServicePerformanceLog sum;
    (*sum.mutable_policy_statistics())[5] = before;
    ServicePerformanceLog piece;
    (*piece.mutable_policy_statistics())[5] = FromText<PolicyStatistics>(text);
    const absl::Status status = MergeInstanceLog(piece, sum);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(error));
    EXPECT_TRUE(
        MessageDifferencer::Equals(sum.policy_statistics().at(5), before));
  }
}

TEST(ServerLogTest, PiecesAddUp) {
  ServicePerformanceLog sum;
  ServicePerformanceLog piece;
  (*piece.mutable_fault_logs())["errors"] = LogOfFault(5, 100, 200);
  *piece.mutable_admission_log() = LogOfAdmission(10);
  ASSERT_TRUE(MergeInstanceLog(piece, sum).ok());
  (*piece.mutable_fault_logs())["errors"] = LogOfFault(7, 300, 300);
  *piece.mutable_admission_log() = LogOfAdmission(30);
  ASSERT_TRUE(MergeInstanceLog(piece, sum).ok());

  const FaultLog& fault = sum.fault_logs().at("errors");
  EXPECT_EQ(fault.request_count(), 12);
  EXPECT_EQ(fault.connection_count(), 2);
  ASSERT_EQ(fault.times_size(), 2);
  EXPECT_EQ(fault.times(1).begin_timestamp_ns(), 300);
  EXPECT_EQ(sum.admission_log().admitted_count(), 4);
  EXPECT_EQ(sum.admission_log().refused_count(), 6);
  stats::LogHistogram wait_ns;
  ASSERT_TRUE(AddHistogram(sum.admission_log().wait_ns(), wait_ns).ok());
  EXPECT_EQ(wait_ns.count(), 2);
  EXPECT_EQ(wait_ns.max(), 30);
}

TEST(ServerLogTest, KeepsALimitedNumberOfTimes) {
  ServicePerformanceLog sum;
  ServicePerformanceLog piece;
  (*piece.mutable_fault_logs())["errors"] = LogOfFault(1, 1, 2);
  for (int i = 0; i <= kMaxFaultTimes; ++i) {
    ASSERT_TRUE(MergeInstanceLog(piece, sum).ok());
  }
  EXPECT_EQ(sum.fault_logs().at("errors").times_size(), kMaxFaultTimes);
  EXPECT_EQ(sum.fault_logs().at("errors").request_count(), kMaxFaultTimes + 1);
}

TEST(ServerLogTest, RefusesDamagedLogs) {
  const auto problem = [](const FaultLog& fault,
                          const AdmissionLog* admission) {
    ServicePerformanceLog sum;
    ServicePerformanceLog piece;
    (*piece.mutable_fault_logs())["errors"] = fault;
    if (admission != nullptr) *piece.mutable_admission_log() = *admission;
    return std::string(MergeInstanceLog(piece, sum).message());
  };
  EXPECT_THAT(problem(LogOfFault(-1, 0, 0), nullptr),
              HasSubstr("fault errors has a negative count"));
  EXPECT_THAT(problem(LogOfFault(1, 5, 4), nullptr),
              HasSubstr("ends before it begins"));
  AdmissionLog damaged = LogOfAdmission(1);
  damaged.set_refused_count(-1);
  EXPECT_THAT(problem(FaultLog(), &damaged), HasSubstr("negative count"));
  damaged = LogOfAdmission(1);
  damaged.mutable_wait_ns()->set_sum(-1);
  EXPECT_THAT(problem(FaultLog(), &damaged), HasSubstr("wait_ns of admission"));
}

}  // namespace
}  // namespace distbench::results
