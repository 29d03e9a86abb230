// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The paths in the samples of traced RPCs, on simulated time.

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(EngineTest, TracesGrowWithEachHop) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "root" count: 1 }
    services { name: "leaf" count: 2 }
    default_protocol: "loopback"
    rpc_descriptions {
      name: "root_query"
      client: "client"
      server: "root"
      tracing_interval: 2
    }
    rpc_descriptions { name: "leaf_query" client: "root" server: "leaf" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "root_query" action_names: "ask_leaves" }
    action_lists { name: "leaf_query" }
    actions {
      name: "run"
      rpc_name: "root_query"
      iterations { max_iteration_count: 4 }
    }
    actions { name: "ask_leaves" rpc_name: "leaf_query" }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const auto& samples =
      LogOf(logs, "root/0", "leaf/1", 1).successful_rpc_samples();
  ASSERT_THAT(samples, SizeIs(4));
  EXPECT_FALSE(samples[1].has_trace_context());
  const TraceContext& trace = samples[2].trace_context();
  EXPECT_THAT(trace.engine_ids(), ElementsAre(0, 1));
  EXPECT_THAT(trace.actionlist_indices(), ElementsAre(0, 1));
  EXPECT_THAT(trace.actionlist_invocations(), ElementsAre(0, 2));
  EXPECT_THAT(trace.action_iterations(), ElementsAre(2, 0));
  EXPECT_EQ(trace.fanout_index_size(), 2);
}

// The ends of a stranger's calls.
class Ends final : public protocol::TransportEvents {
 public:
  void OnDone(protocol::ClientCall* call) override {
    errors.emplace_back(call->error);
  }
  void OnRequest(protocol::ServerCall*) override {}

  std::vector<std::string> errors;
};

TEST(TraceTest, WhatDoesNotParseIsNoTrace) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "root" count: 1 }
    services { name: "leaf" count: 1 }
    default_protocol: "loopback"
    rpc_descriptions { name: "root_query" client: "client" server: "root" }
    rpc_descriptions { name: "leaf_query" client: "root" server: "leaf" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "root_query" action_names: "ask" }
    action_lists { name: "leaf_query" }
    actions { name: "run" rpc_name: "root_query" }
    actions { name: "ask" rpc_name: "leaf_query" }
  )pb");
  const auto stranger = protocol::MakeLoopbackDriver(system.clock());
  ASSERT_TRUE(stranger->Listen(1).ok());
  const std::string address = system.engine("root/0").address();
  ASSERT_TRUE(
      stranger
          ->Connect(protocol::SingleServers({address}), absl::InfiniteFuture())
          .ok());
  protocol::ClientCall call{.request_bytes = 100, .trace_context = "no trace"};
  ASSERT_TRUE(stranger->transport(0).Start(&call));
  ASSERT_TRUE(system.Run());
  Ends ends;
  stranger->transport(0).Poll(0, ends);
  EXPECT_THAT(ends.errors, ElementsAre(""));
  const ServiceLogs logs = system.Finish();
  const auto& samples =
      LogOf(logs, "root/0", "leaf/0", 1).successful_rpc_samples();
  ASSERT_THAT(samples, SizeIs(2));
  for (const RpcSample& sample : samples) {
    EXPECT_FALSE(sample.has_trace_context());
  }
}

// Every second iteration is traced, and a round robin sends these to the first
// of two roots.
TEST(TraceTest, FollowsOnlyWhatWasTracedFirst) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "root" count: 2 }
    services { name: "leaf" count: 3 }
    default_protocol: "loopback"
    rpc_descriptions {
      name: "root_query"
      client: "client"
      server: "root"
      fanout_filter: "round_robin"
      tracing_interval: 2
    }
    rpc_descriptions { name: "leaf_query" client: "root" server: "leaf" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "root_query" action_names: "ask" }
    action_lists { name: "leaf_query" }
    actions {
      name: "run"
      rpc_name: "root_query"
      iterations { max_iteration_count: 10 }
    }
    actions { name: "ask" rpc_name: "leaf_query" }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  for (const RpcSample& sample :
       LogOf(logs, "root/0", "leaf/2", 1).successful_rpc_samples()) {
    EXPECT_THAT(sample.trace_context().engine_ids(), ElementsAre(0, 1));
  }
  for (const RpcSample& sample :
       LogOf(logs, "root/1", "leaf/2", 1).successful_rpc_samples()) {
    EXPECT_FALSE(sample.has_trace_context());
  }
}

}  // namespace
}  // namespace distbench::engine
