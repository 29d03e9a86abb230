// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Services whose instances all talk to each other, on simulated time.

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Le;

TEST(CliqueTest, SynchronisedBurstsReachEveryPeerAsOften) {
  VirtualTimeSystem system(R"pb(
    services { name: "node" count: 4 }
    default_protocol: "loopback"
    rpc_descriptions { name: "chat" client: "node" server: "node" }
    action_lists { name: "node" action_names: "run" }
    action_lists { name: "chat" }
    actions {
      name: "run"
      rpc_name: "chat"
      iterations {
        max_duration_us: 2000000
        open_loop_interval_ns: 3200000
        open_loop_interval_distribution: "sync_burst"
      }
    }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  std::vector<int64_t> counts;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (i == j) continue;
      counts.push_back(
          StatisticsOf(logs, absl::StrCat("node/", i), absl::StrCat("node/", j))
              .succeeded_count());
    }
  }
  EXPECT_THAT(counts, Each(AllOf(Ge(624), Le(626))));
}

// The first instance sends like the others, and to all of them equally.
TEST(CliqueTest, StochasticFanoutTreatsAllInstancesAlike) {
  VirtualTimeSystem system(R"pb(
    services { name: "node" count: 5 }
    default_protocol: "loopback"
    random_seed: 2
    rpc_descriptions {
      name: "chat"
      client: "node"
      server: "node"
      fanout_filter: "stochastic{0.7:1,0.3:4}"
    }
    action_lists { name: "node" action_names: "run" }
    action_lists { name: "chat" }
    actions {
      name: "run"
      rpc_name: "chat"
      iterations { max_iteration_count: 4000 }
    }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j) {
      if (i == j) continue;
      // 4000 times (0.7 / 4 + 0.3), within five standard deviations.
      EXPECT_NEAR(
          StatisticsOf(logs, absl::StrCat("node/", i), absl::StrCat("node/", j))
              .succeeded_count(),
          1900, 160);
    }
  }
}

// The totals of both workers are merged, with or without histograms.
TEST(CliqueTest, WithoutMemoryPairsHaveMomentsAndRpcsHistograms) {
  for (const int64_t memory_bytes : {0, 64 << 20}) {
    DistributedSystemDescription test = ParseTest(R"pb(
      services { name: "node" count: 3 }
      default_protocol: "loopback"
      rpc_descriptions { name: "chat" client: "node" server: "node" }
      action_lists { name: "node" action_names: "run" }
      action_lists { name: "chat" }
      actions {
        name: "run"
        rpc_name: "chat"
        iterations { max_iteration_count: 1000 open_loop_interval_ns: 20000000 }
      }
    )pb");
    test.set_recording_memory_bytes(memory_bytes);
    VirtualTimeSystem system(test, /*workers=*/2);
    ASSERT_TRUE(system.Run());
    const ServiceLogs logs = system.Finish();
    const bool is_brief = memory_bytes == 0;
    const ServicePerformanceLog& log = logs.instance_logs().at("node/0");
    uint64_t pooled = 0;
    for (const auto& [rpc, statistics] : log.pooled_statistics()) {
      EXPECT_EQ(rpc, 0);
      EXPECT_EQ(statistics.succeeded_count(), 0);
      for (const uint64_t count :
           statistics.service_time_ns().bucket_counts()) {
        pooled += count;
      }
    }
    EXPECT_EQ(pooled, is_brief ? 2000 : 0);
    for (const char* peer : {"node/1", "node/2"}) {
      const RpcStatistics statistics = StatisticsOf(logs, "node/0", peer);
      EXPECT_EQ(statistics.succeeded_count(), 1000);
      EXPECT_EQ(statistics.has_service_time_ns(), !is_brief);
      EXPECT_EQ(statistics.has_response_time_moments(), is_brief);
      EXPECT_EQ(statistics.service_time_moments().count(), is_brief ? 1000 : 0);
    }
    const RpcTimeSeries& series = log.rpc_time_series().at(0);
    EXPECT_EQ(series.interval_ns() > 1'000'000'000, is_brief);
    int64_t sent = 0;
    for (const RpcInterval& interval : series.intervals()) {
      sent += interval.sent_count();
    }
    EXPECT_EQ(sent, 2000);
  }
}

}  // namespace
}  // namespace distbench::engine
