// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Replay of RPC traces, on simulated time: an RPC takes as long as its record
// says that the server does.

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/substitute.h"
#include "distbench/engine/engine.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// The index of the trace, after the only RPC.
constexpr int kTraceIndex = 1;

// Two clients that replay `records` to two servers. `action` completes the
// action "run".
std::string Replay(absl::string_view records, absl::string_view action = "",
                   absl::string_view more = "") {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 2 }
        services {
          name: "server"
          count: 2
          multi_server_channels {
            name: "both"
            selected_instances: [ 0, 1 ]
          }
        }
        default_protocol: "loopback"
        rpc_descriptions { name: "query" client: "client" server: "server" }
        action_lists { name: "query" }
        rpc_replay_traces {
          name: "trace"
          client: "client"
          server: "server"
          multiserver_channel_names: "both" $0
        }
        action_lists { name: "client" action_names: "run" }
        actions { name: "run" rpc_replay_trace_name: "trace" $1 } $2)pb",
      records, action, more);
}

const google::protobuf::RepeatedPtrField<RpcReplayTraceLog>& LogsOf(
    const ServiceLogs& logs, const std::string& client = "client/0") {
  return logs.instance_logs().at(client).replay_trace_logs();
}

// The start of each record's RPC relative to the start of the trace, in
// microseconds.
std::map<int, int64_t> StartsUs(const RpcReplayTraceLog& log) {
  std::map<int, int64_t> starts;
  for (const auto& [record, sample] : log.rpc_samples()) {
    starts[record] = sample.start_timestamp_ns() / 1000;
  }
  return starts;
}

TEST(ReplayTest, SendsWhatTheRecordsSay) {
  VirtualTimeSystem system(Replay(R"pb(
    records {
      timing_mode: RELATIVE_TO_TRACE_START
      timing_ns: 3000000
      request_size: 1000
      response_size: 70000
      server_processing_time_ns: 5000000
      server_instance: 1
    }
    records { timing_ns: 1000000 request_size: 129 response_size: 131 })pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  ASSERT_THAT(LogsOf(logs), SizeIs(1));
  const RpcReplayTraceLog& log = LogsOf(logs)[0];
  EXPECT_EQ(log.rpc_replay_trace_name(), "trace");
  EXPECT_FALSE(log.warmup());
  EXPECT_THAT(StartsUs(log), ElementsAre(Pair(0, 3000), Pair(1, 1000)));
  const RpcSample& first = log.rpc_samples().at(0);
  EXPECT_EQ(first.request_size(), 1000);
  EXPECT_EQ(first.response_size(), 70000);
  EXPECT_EQ(first.latency_ns(), 5 * kMs);
  EXPECT_EQ(log.rpc_samples().at(1).latency_ns(), 0);

  const RpcStatistics statistics =
      StatisticsOf(logs, "client/0", "server/1", kTraceIndex);
  EXPECT_EQ(statistics.succeeded_count(), 1);
  EXPECT_EQ(statistics.response_bytes(), 70000);
  EXPECT_EQ(statistics.lateness_ns().max(), 0);
  EXPECT_EQ(statistics.dropped_sample_count(), 0);
  EXPECT_EQ(
      StatisticsOf(logs, "client/1", "server/0", kTraceIndex).succeeded_count(),
      1)
      << "without a client_instance all clients send";
}

// Existing readers take every key of rpc_logs for an RPC of the config.
TEST(ReplayTest, ReplayedRpcsAreApartFromTheOthers) {
  VirtualTimeSystem system(Replay("records {}"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const PeerPerformanceLog& peer =
      logs.instance_logs().at("client/0").peer_logs().at("server/0");
  EXPECT_THAT(peer.rpc_logs(), IsEmpty());
  EXPECT_EQ(peer.replay_logs().at(kTraceIndex).statistics().succeeded_count(),
            1);
}

TEST(ReplayTest, TrafficAndTraceStartAreDifferentTimes) {
  VirtualTimeSystem
      system(
          Replay(
              R"pb(
                records {
                  timing_mode: RELATIVE_TO_TRAFFIC_START
                  timing_ns: 7000000
                }
                records {
                  timing_mode: RELATIVE_TO_TRACE_START
                  timing_ns: 1000000
                })pb",
              "delay_distribution_name: 'pause'", R"pb(
                delay_distribution_configs {
                  name: "pause"
                  field_names: "action_delay_ns"
                  pmf_points {
                    pmf: 1
                    data_points { exact: 5000000 }
                  }
                })pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(StartsUs(LogsOf(logs)[0]),
              ElementsAre(Pair(0, 2000), Pair(1, 1000)));
}

TEST(ReplayTest, RecordsWaitForEarlierOnes) {
  VirtualTimeSystem system(Replay(R"pb(
    records { timing_ns: 1000000 server_processing_time_ns: 4000000 }
    records { timing_mode: RELATIVE_TO_PRIOR_RPC_START timing_ns: 500000 }
    records {
      timing_mode: RELATIVE_TO_PRIOR_RPC_END
      prior_rpc_distances: 1
      timing_ns: 2000000
      server_processing_time_ns: 1000000
    }
    records {
      timing_mode: RELATIVE_TO_PRIOR_RPC_END
      prior_rpc_distances: [ 0, 1, 2 ]
    }
    records {
      timing_mode: RELATIVE_TO_PRIOR_RPC_START
      prior_rpc_distances: [ 3, 1 ]
    }
    records { timing_mode: RELATIVE_TO_PRIOR_RPC_END timing_ns: 1000 })pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(StartsUs(LogsOf(logs)[0]),
              ElementsAre(Pair(0, 1000), Pair(1, 1500), Pair(2, 7000),
                          Pair(3, 8000), Pair(4, 7000), Pair(5, 7001)));
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0", kTraceIndex)
                .lateness_ns()
                .max(),
            0);
}

// The reference implementation falls back to the start of the traffic.
TEST(ReplayTest, WithoutDistancesThePriorRecordIsTheOneBefore) {
  VirtualTimeSystem system(Replay(R"pb(
    defaults {
      timing_mode: RELATIVE_TO_PRIOR_RPC_END
      timing_ns: 1000000
      server_processing_time_ns: 2000000
    }
    records {}
    records {}
    records {})pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(StartsUs(LogsOf(logs)[0]),
              ElementsAre(Pair(0, 1000), Pair(1, 4000), Pair(2, 7000)));
}

TEST(ReplayTest, EveryClientSendsItsOwnRecords) {
  VirtualTimeSystem system(Replay(R"pb(
    records { client_instance: 1 }
    records {}
    records {
      client_instance: 1
      timing_mode: RELATIVE_TO_PRIOR_RPC_END
      prior_rpc_distances: 1
    })pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(StartsUs(LogsOf(logs, "client/0")[0]), ElementsAre(Pair(1, 0)));
  EXPECT_THAT(StartsUs(LogsOf(logs, "client/1")[0]),
              ElementsAre(Pair(0, 0), Pair(1, 0), Pair(2, 0)));
}

TEST(ReplayTest, ClientWithoutRecordsIsDoneAtOnce) {
  VirtualTimeSystem system(Replay("records { client_instance: 1 }"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(LogsOf(logs, "client/0"), IsEmpty());
  EXPECT_THAT(LogsOf(logs, "client/1"), SizeIs(1));
}

TEST(ReplayTest, RecordThatFailsReleasesItsFollowers) {
  VirtualTimeSystem system(Replay(R"pb(
    records { server_instance: 1 timing_ns: 1000000 }
    records { timing_mode: RELATIVE_TO_PRIOR_RPC_END timing_ns: 1000000 }
    records {
      timing_mode: RELATIVE_TO_PRIOR_RPC_START
      prior_rpc_distances: 1
      timing_ns: 500000
    })pb"));
  system.engine("server/1").Stop("enough");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const RpcReplayTraceLog& log = LogsOf(logs)[0];
  EXPECT_THAT(StartsUs(log),
              ElementsAre(Pair(0, 1000), Pair(1, 2000), Pair(2, 1500)));
  EXPECT_THAT(logs.instance_logs()
                  .at("client/0")
                  .error_dictionary()
                  .error_message(log.rpc_samples().at(0).error_index()),
              HasSubstr("Traffic cancelled: enough"));
  EXPECT_EQ(
      StatisticsOf(logs, "client/0", "server/1", kTraceIndex).failed_count(),
      1);
}

TEST(ReplayTest, IterationsOfAnOpenLoopStartWhenTheyAreDue) {
  VirtualTimeSystem system(Replay(
      R"pb(
        records { timing_ns: 2000000 server_processing_time_ns: 30000000 }
        records {}
        records { timing_mode: RELATIVE_TO_TRAFFIC_START })pb",
      "iterations { open_loop_interval_ns: 10000000 "
      "max_iteration_count: 4 warmup_iterations: 1 }"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  ASSERT_THAT(LogsOf(logs), SizeIs(4));
  const int64_t first_ns = LogsOf(logs)[0].timestamp_offset_ns();
  for (int i = 0; i < 4; ++i) {
    const RpcReplayTraceLog& log = LogsOf(logs)[i];
    EXPECT_EQ(log.timestamp_offset_ns() - first_ns, i * 10 * kMs);
    EXPECT_EQ(log.warmup(), i == 0);
    EXPECT_THAT(StartsUs(log),
                ElementsAre(Pair(0, 2000), Pair(1, 0), Pair(2, 0)));
  }
  const RpcStatistics statistics =
      StatisticsOf(logs, "client/0", "server/0", kTraceIndex);
  EXPECT_EQ(statistics.succeeded_count(), 9);
  EXPECT_EQ(statistics.warmup_count(), 3);
  EXPECT_EQ(statistics.lateness_ns().max(), 0)
      << "a record is not due before its execution starts";
}

TEST(ReplayTest, IterationsOfAClosedLoopFollowEachOther) {
  VirtualTimeSystem system(
      Replay("records { server_processing_time_ns: 3000000 }",
             "iterations { max_iteration_count: 3 }"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  ASSERT_THAT(LogsOf(logs), SizeIs(3));
  EXPECT_EQ(LogsOf(logs)[2].timestamp_offset_ns() -
                LogsOf(logs)[0].timestamp_offset_ns(),
            6 * kMs);
}

TEST(ReplayTest, StoppingDropsWhatWasNotSentAndCancelsTheRest) {
  VirtualTimeSystem system(Replay(R"pb(
    records { server_processing_time_ns: 3600000000000 }
    records { timing_mode: RELATIVE_TO_PRIOR_RPC_END }
    records { timing_ns: 1000000 }
    records { timing_ns: 50000000 }
    records { timing_mode: RELATIVE_TO_PRIOR_RPC_START timing_ns: 1 })pb"));
  system.RunFor(10 * kMs);
  for (const char* client : {"client/0", "client/1"}) {
    system.engine(client).Stop("enough");
  }
  ASSERT_TRUE(system.Run(11 * kMs));
  EXPECT_EQ(system.engine("client/0").progress().in_flight_count(), 0);
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(StartsUs(LogsOf(logs)[0]),
              ElementsAre(Pair(0, 0), Pair(2, 1000)));
  EXPECT_THAT(
      logs.instance_logs().at("client/0").error_dictionary().error_message(),
      ElementsAre("", HasSubstr("CANCELLED")));
}

TEST(ReplayTest, EndOfOwnTrafficDropsWhatWasNotSentAndAwaitsTheRest) {
  std::string config =
      Replay(R"pb(
               records { server_processing_time_ns: 20000000 }
               records { timing_mode: RELATIVE_TO_PRIOR_RPC_END }
               records { timing_ns: 50000000 })pb",
             "", R"pb(
        delay_distribution_configs {
          name: "pause"
          field_names: "action_delay_ns"
          pmf_points {
            pmf: 1
            data_points { exact: 5000000 }
          }
        }
        actions {
          name: "end"
          delay_distribution_name: "pause"
          cancel_traffic_when_done: true
        })pb");
  const std::string only = "action_names: \"run\"";
  config.replace(config.find(only), only.size(),
                 "action_names: ['run', 'end']");
  VirtualTimeSystem system(config);
  ASSERT_TRUE(system.Run(25 * kMs));
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(StartsUs(LogsOf(logs)[0]), ElementsAre(Pair(0, 0)));
  EXPECT_EQ(LogsOf(logs)[0].rpc_samples().at(0).latency_ns(), 20 * kMs);
}

TEST(ReplayTest, ServerThatStopsRefusesWhatItWasWorkingOn) {
  VirtualTimeSystem system(
      Replay("records { server_processing_time_ns: 3600000000000 }"));
  system.RunFor(1 * kMs);
  system.engine("server/0").Stop("enough");
  ASSERT_TRUE(system.Run(2 * kMs));
  EXPECT_EQ(StatisticsOf(system.Finish(), "client/0", "server/0", kTraceIndex)
                .failed_count(),
            1);
}

TEST(ReplayTest, ChainsOfAnyLengthNeedNoStack) {
  constexpr int kRecords = 100'000;
  DistributedSystemDescription test;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      Replay("defaults { timing_mode: RELATIVE_TO_PRIOR_RPC_START }"), &test));
  for (int i = 0; i < kRecords; ++i) {
    test.mutable_rpc_replay_traces(0)->add_records();
  }
  VirtualTimeSystem system(test, /*workers=*/1);
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(StatisticsOf(system.Finish(), "client/0", "server/0", kTraceIndex)
                .succeeded_count(),
            kRecords);
}

TEST(ReplayTest, RecordsGoThroughChannels) {
  VirtualTimeSystem system(Replay(R"pb(
    defaults { multi_server_channel_name_index: 0 }
    records {}
    records { timing_ns: 1000 }
    records { timing_ns: 2000 }
    records { timing_ns: 3000 })pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  for (int record = 0; record < 4; ++record) {
    EXPECT_EQ(LogsOf(logs)[0].rpc_samples().at(record).server_instance(),
              record % 2);
  }
  for (const char* server : {"server/0", "server/1"}) {
    EXPECT_EQ(
        StatisticsOf(logs, "client/0", server, kTraceIndex).succeeded_count(),
        2);
  }
}

// A front end whose handler replays a trace to a back end, once per request.
TEST(ReplayTest, HandlersReplayAndPassTracesOn) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "front" count: 1 }
    services { name: "back" count: 1 }
    default_protocol: "loopback"
    rpc_descriptions {
      name: "ask"
      client: "client"
      server: "front"
      tracing_interval: 1
    }
    rpc_replay_traces {
      name: "trace"
      client: "front"
      server: "back"
      records { server_processing_time_ns: 2000000 }
      records { timing_mode: RELATIVE_TO_PRIOR_RPC_END timing_ns: 1000000 }
    }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "ask" action_names: "replay" }
    actions {
      name: "run"
      rpc_name: "ask"
      iterations { max_iteration_count: 2 warmup_iterations: 1 }
    }
    actions { name: "replay" rpc_replay_trace_name: "trace" })pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(StatisticsOf(logs, "client/0", "front/0").service_time_ns().max(),
            3 * kMs)
      << "the answer waits for the replay";
  ASSERT_THAT(LogsOf(logs, "front/0"), SizeIs(2));
  EXPECT_TRUE(LogsOf(logs, "front/0")[0].warmup()) << "inherited";
  const RpcReplayTraceLog& log = LogsOf(logs, "front/0")[1];
  EXPECT_FALSE(log.warmup());
  EXPECT_THAT(log.trace_context().engine_ids(), ElementsAre(0, 1));
  EXPECT_THAT(log.trace_context().fanout_index(), ElementsAre(0));
  EXPECT_THAT(log.rpc_samples().at(1).trace_context().fanout_index(),
              ElementsAre(0, 1));
}

}  // namespace
}  // namespace distbench::engine
