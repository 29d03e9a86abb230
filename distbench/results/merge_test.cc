#include "distbench/results/merge.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

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

}  // namespace
}  // namespace distbench::results
