// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Multi-server channels, on simulated time.

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/engine.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// A client that sends 12 RPCs through channel `channel` of four servers.
std::string Config(absl::string_view channels, absl::string_view channel,
                   absl::string_view more = "") {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 4 $0 }
        default_protocol: "loopback"
        rpc_descriptions {
          name: "query"
          client: "client"
          server: "server"
          multi_server_channel_name: "$1"
        }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" }
        actions {
          name: "run"
          rpc_name: "query"
          iterations { max_iteration_count: 12 }
        } $2)pb",
      channels, channel, more);
}

std::map<std::string, int64_t> SucceededByServer(const ServiceLogs& logs,
                                                 int rpc_index = 0) {
  std::map<std::string, int64_t> counts;
  for (const auto& [server, log] :
       logs.instance_logs().at("client/0").peer_logs()) {
    const auto rpc = log.rpc_logs().find(rpc_index);
    if (rpc == log.rpc_logs().end()) continue;
    counts[server] = rpc->second.statistics().succeeded_count();
  }
  return counts;
}

TEST(ChannelsTest, RoundRobinOverMembersByIndexAndConstraint) {
  VirtualTimeSystem system(Config(R"pb(
                                    multi_server_channels {
                                      name: "some"
                                      selected_instances: 1
                                      constraints {
                                        constraint_sets {
                                          constraints {
                                            attribute_name: "index"
                                            relation: EQUAL
                                            int64_values: [ 0, 3 ]
                                          }
                                        }
                                      }
                                    })pb",
                                  "some"));
  ASSERT_TRUE(system.Run());
  EXPECT_THAT(SucceededByServer(system.Finish()),
              ElementsAre(Pair("server/0", 4), Pair("server/1", 4),
                          Pair("server/3", 4)));
}

TEST(ChannelsTest, SamplesNameTheInstanceThatAnswered) {
  VirtualTimeSystem system(
      Config("multi_server_channels { name: 'two' selected_instances: [2, 1] }",
             "two"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const auto& peers = logs.instance_logs().at("client/0").peer_logs();
  ASSERT_THAT(peers, UnorderedElementsAre(Key("server/1"), Key("server/2")));
  for (const int server : {1, 2}) {
    const auto& log =
        peers.at(absl::StrCat("server/", server)).rpc_logs().at(0);
    EXPECT_EQ(log.successful_rpc_samples_size(), 6);
    for (const RpcSample& sample : log.successful_rpc_samples()) {
      EXPECT_EQ(sample.server_instance(), server);
    }
  }
}

TEST(ChannelsTest, PickFirstUsesTheFirstMember) {
  VirtualTimeSystem system(
      Config(R"pb(
               multi_server_channels {
                 name: "first"
                 selected_instances: [ 3, 2 ]
                 channel_settings { name: "policy" string_value: "pick_first" }
               })pb",
             "first"));
  ASSERT_TRUE(system.Run());
  EXPECT_THAT(SucceededByServer(system.Finish()),
              ElementsAre(Pair("server/2", 12)));
}

// The reference implementation numbers channels per service where it uses them,
// but over all services where it makes them.
TEST(ChannelsTest, SeveralServicesHaveSeveralChannels) {
  std::string config = Config(
      "multi_server_channels { name: 'a' selected_instances: 0 } "
      "multi_server_channels { name: 'b' selected_instances: [1, 2] }",
      "b", R"pb(
        services {
          name: "other"
          count: 2
          multi_server_channels { name: "a" selected_instances: 1 }
          multi_server_channels { name: "b" selected_instances: 0 }
        }
        rpc_descriptions {
          name: "ask"
          client: "client"
          server: "other"
          multi_server_channel_name: "a"
        }
        action_lists { name: "ask" }
        actions { name: "ask_once" rpc_name: "ask" })pb");
  const std::string only = "action_names: \"run\"";
  config.replace(config.find(only), only.size(),
                 "action_names: ['run', 'ask_once']");
  VirtualTimeSystem system(config);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(SucceededByServer(logs, /*rpc_index=*/0),
              ElementsAre(Pair("server/1", 6), Pair("server/2", 6)));
  EXPECT_THAT(SucceededByServer(logs, /*rpc_index=*/1),
              ElementsAre(Pair("other/1", 1)));
}

TEST(ChannelsTest, CallsThroughAChannelAndStraightAreCountedApart) {
  std::string config = Config(
      "multi_server_channels { name: 'pair' selected_instances: [1, 2] }",
      "pair", R"pb(
        rpc_descriptions { name: "direct" client: "client" server: "server" }
        action_lists { name: "direct" }
        actions { name: "all" rpc_name: "direct" })pb");
  const std::string only = "action_names: \"run\"";
  config.replace(config.find(only), only.size(),
                 "action_names: ['run', 'all']");
  VirtualTimeSystem system(config);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(SucceededByServer(logs, /*rpc_index=*/0),
              ElementsAre(Pair("server/1", 6), Pair("server/2", 6)));
  EXPECT_THAT(SucceededByServer(logs, /*rpc_index=*/1),
              ElementsAre(Pair("server/0", 1), Pair("server/1", 1),
                          Pair("server/2", 1), Pair("server/3", 1)));
  const RpcSample& sample = logs.instance_logs()
                                .at("client/0")
                                .peer_logs()
                                .at("server/1")
                                .rpc_logs()
                                .at(1)
                                .successful_rpc_samples(0);
  EXPECT_FALSE(sample.has_server_instance()) << "it chose the server itself";
}

TEST(ChannelsTest, AnInstanceMayBeAMemberOfAChannelOfItsOwnService) {
  VirtualTimeSystem system(R"pb(
    services {
      name: "peer"
      count: 2
      multi_server_channels {
        name: "all"
        selected_instances: [ 0, 1 ]
      }
    }
    default_protocol: "loopback"
    rpc_descriptions {
      name: "query"
      client: "peer"
      server: "peer"
      multi_server_channel_name: "all"
    }
    action_lists { name: "peer" action_names: "run" }
    action_lists { name: "query" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_iteration_count: 4 }
    })pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  for (const char* client : {"peer/0", "peer/1"}) {
    for (const char* server : {"peer/0", "peer/1"}) {
      EXPECT_EQ(StatisticsOf(logs, client, server).succeeded_count(), 2);
    }
  }
}

TEST(ChannelsTest, ErrorsOfAServerAreItsOwn) {
  // The handler of one server refuses requests, because it has stopped
  // everything.
  VirtualTimeSystem system(
      Config("multi_server_channels { name: 'two' selected_instances: [0, 1] }",
             "two"));
  system.engine("server/1").Stop("enough");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0").succeeded_count(), 6);
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0").failed_count(), 0);
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/1").failed_count(), 6);
}

TEST(ChannelsTest, WhatNobodyAnsweredIsCountedUnderTheChannel) {
  VirtualTimeSystem system(
      Config("multi_server_channels { name: 'two' selected_instances: [0, 1] }",
             "two"));
  system.engine("server/0").Shutdown();
  system.engine("server/1").Shutdown();
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(logs.instance_logs().at("client/0").peer_logs(),
              UnorderedElementsAre(Key("server[two]")));
  const RpcStatistics statistics =
      StatisticsOf(logs, "client/0", "server[two]");
  EXPECT_EQ(statistics.succeeded_count(), 0);
  EXPECT_EQ(statistics.failed_count(), 12);
}

TEST(ChannelsTest, TwoWorkersTakeTurnsEach) {
  VirtualTimeSystem system(
      Config("multi_server_channels { name: 'two' selected_instances: [0, 1] }",
             "two"),
      /*workers=*/2);
  ASSERT_TRUE(system.Run());
  EXPECT_THAT(SucceededByServer(system.Finish()),
              ElementsAre(Pair("server/0", 6), Pair("server/1", 6)));
}

}  // namespace
}  // namespace distbench::engine
