// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Actions that receive requests, those that record their iterations, and sizes
// by instance.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// A chain of ranks: each waits for the one before, computes for a millisecond
// and calls the next one; several times.
std::string Chain(int ranks, absl::string_view iterations,
                  absl::string_view more = "") {
  return absl::
      Substitute(
          R"pb(
            services { name: "rank" x_size: $0 }
            default_protocol: "loopback"
            delay_distribution_configs {
              name: "compute"
              field_names: "action_delay_ns"
              pmf_points {
                pmf: 1
                data_points { exact: 1000000 }
              }
            }
            rpc_descriptions {
              name: "pass_on"
              client: "rank"
              server: "rank"
              fanout_filter: "linear_x{1}"
            }
            action_lists { name: "pass_on" }
            action_lists { name: "rank" action_names: "run" }
            actions {
              name: "run"
              action_list_name: "step"
              record_iterations: true
              iterations { $1 }
            }
            action_lists {
              name: "step"
              action_names: "receive"
              action_names: "compute"
              action_names: "send"
            }
            actions { name: "receive" receive_rpc_name: "pass_on" }
            actions {
              name: "compute"
              dependencies: "receive"
              delay_distribution_name: "compute"
            }
            actions {
              name: "send"
              dependencies: "compute"
              rpc_name: "pass_on"
            } $2)pb",
          ranks, iterations, more);
}

const IterationLog& IterationsOf(const ServiceLogs& logs,
                                 const std::string& instance) {
  return logs.instance_logs().at(instance).iteration_logs().at("run");
}

TEST(ReceiveTest, WaitsForTheOneBefore) {
  VirtualTimeSystem system(Chain(4, "max_iteration_count: 3"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const int64_t start_ns = IterationsOf(logs, "rank/0").start_timestamps_ns(0);
  for (int rank = 0; rank < 4; ++rank) {
    const IterationLog& log = IterationsOf(logs, absl::StrCat("rank/", rank));
    ASSERT_THAT(log.numbers(), ElementsAre(0, 1, 2));
    for (int i = 0; i < 3; ++i) {
      const int64_t end_ns =
          log.start_timestamps_ns(i) + log.durations_ns(i) - start_ns;
      // A pipeline: the first result comes after one step of each rank.
      EXPECT_NEAR(end_ns, (rank + i + 1) * kMs, kMs / 10) << rank << " " << i;
    }
  }
}

TEST(ReceiveTest, AsManyAsWereSent) {
  // The first rank is three iterations ahead: requests are kept.
  VirtualTimeSystem system(Chain(2, "max_iteration_count: 4", R"pb(
    server_faults {
      name: "slow"
      service: "rank"
      instances: 1
      start_ns: 0
      duration_ns: 100000000
      freeze: true
    }
  )pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(IterationsOf(logs, "rank/1").numbers(), ElementsAre(0, 1, 2, 3));
}

TEST(ReceiveTest, AStopEndsTheWait) {
  // Rank 1 waits for more than it gets.
  VirtualTimeSystem system(R"pb(
    services { name: "rank" x_size: 2 }
    default_protocol: "loopback"
    rpc_descriptions {
      name: "pass_on"
      client: "rank"
      server: "rank"
      fanout_filter: "linear_x{1}"
    }
    action_lists { name: "pass_on" }
    action_lists { name: "rank" action_names: "send" action_names: "receive" }
    actions { name: "send" rpc_name: "pass_on" }
    actions {
      name: "receive"
      receive_rpc_name: "pass_on"
      record_iterations: true
      iterations { max_iteration_count: 3 }
    }
  )pb");
  EXPECT_FALSE(system.Run(kSecond)) << "nothing is due";
  system.StopAll("it is enough");
  EXPECT_TRUE(system.Run(kSecond));
  const ServiceLogs logs = system.Finish();
  const IterationLog& log =
      logs.instance_logs().at("rank/1").iteration_logs().at("receive");
  EXPECT_THAT(log.numbers(), ElementsAre(0));
  EXPECT_EQ(log.unfinished_count(), 1);
}

TEST(ReceiveTest, SeveralWorkersShareWhatComes) {
  VirtualTimeSystem system(
      Chain(2, "max_iteration_count: 40 max_parallel_iterations: 8"),
      /*workers=*/3);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(IterationsOf(logs, "rank/0").numbers_size(), 40);
  EXPECT_EQ(IterationsOf(logs, "rank/1").numbers_size(), 40);
}

TEST(RecordedIterationsTest, LeaveOutTheWarmUpButCountIt) {
  VirtualTimeSystem system(
      Chain(2, "max_iteration_count: 5 warmup_iterations: 2"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(IterationsOf(logs, "rank/1").numbers(), ElementsAre(2, 3, 4));
  EXPECT_THAT(IterationsOf(logs, "rank/0").durations_ns(), Each(kMs));
}

TEST(RecordedIterationsTest, OfManyOnlyEverySecondIsKept) {
  VirtualTimeSystem system(R"pb(
    services { name: "rank" count: 1 }
    default_protocol: "loopback"
    action_lists { name: "rank" action_names: "run" }
    actions {
      name: "run"
      record_iterations: true
      iterations { max_iteration_count: 15000 }
    }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const IterationLog& log =
      logs.instance_logs().at("rank/0").iteration_logs().at("run");
  EXPECT_EQ(log.stride(), 2);
  EXPECT_EQ(log.numbers_size(), 7500);
  EXPECT_EQ(log.numbers(1), 2);
}

TEST(SizesByInstanceTest, FollowTheServersInstance) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 3 }
    default_protocol: "loopback"
    payload_descriptions {
      name: "hot"
      sizes_by_instance: [ 1000, 500 ]
    }
    rpc_descriptions {
      name: "query"
      client: "client"
      server: "server"
      request_payload_name: "hot"
      response_payload_name: "hot"
    }
    action_lists { name: "query" }
    action_lists { name: "client" action_names: "run" }
    actions { name: "run" rpc_name: "query" }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  for (int server = 0; server < 3; ++server) {
    const RpcStatistics statistics =
        StatisticsOf(logs, "client/0", absl::StrCat("server/", server));
    EXPECT_EQ(statistics.request_bytes(), server == 1 ? 500 : 1000);
    EXPECT_EQ(statistics.response_bytes(), server == 1 ? 500 : 1000);
  }
}

}  // namespace
}  // namespace distbench::engine
