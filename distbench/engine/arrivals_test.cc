// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Composed arrivals in whole engines, on simulated time: what is sent is what
// the streams have, whatever the number of workers.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/arrivals/arrival_stream.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/engine/engine.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

constexpr char kBursts[] =
    "process: 'gamma' coefficient_of_variation: 2 "
    "modulations { on_off { on_ns: 20000000 off_ns: 30000000 } } "
    "modulations { markov { states { factor: 4 mean_duration_ns: 50000000 } "
    "states { factor: 0.5 mean_duration_ns: 50000000 } } } ";

// Iterations for a second of a thousand per second.
std::string ArrivalLoop(const std::string& arrivals,
                        const std::string& more = "") {
  return absl::StrCat(
      "iterations { open_loop_interval_ns: 1000000 max_duration_us: 1000000 ",
      more, " arrivals { ", arrivals, " } }");
}

// When the client sent, in nanoseconds from the start of the traffic.
std::vector<int64_t> SendTimes(const std::string& iterations, int workers) {
  VirtualTimeSystem system(ClientServer(iterations, "random_seed: 7"), workers);
  EXPECT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const int64_t start_ns =
      logs.instance_logs().at("client/0").traffic_start_timestamp_ns();
  std::vector<int64_t> times;
  for (const RpcSample& sample :
       LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples()) {
    times.push_back(sample.start_timestamp_ns() - start_ns);
  }
  std::sort(times.begin(), times.end());
  return times;
}

// A server that answers after 10 ms.
std::string SlowServer(const std::string& iterations) {
  return absl::StrCat(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 1 }
        default_protocol: "loopback"
        random_seed: 7
        delay_distribution_configs {
          name: "ten_ms"
          field_names: "action_delay_ns"
          pmf_points {
            pmf: 1
            data_points { exact: 10000000 }
          }
        }
        rpc_descriptions { name: "query" client: "client" server: "server" }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" action_names: "work" }
        actions { name: "work" delay_distribution_name: "ten_ms" }
        actions { name: "run" rpc_name: "query")pb",
      iterations, " }");
}

class ComposedArrivalsTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Workers, ComposedArrivalsTest,
                         testing::Values(1, 2, 5));

TEST_P(ComposedArrivalsTest, AreSentWhenTheyAreDue) {
  const config::ArrivalPlan plan =
      config::CompileArrivals(base::FromText<Arrivals>(kBursts));
  config::ArrivalStream stream(plan, 1e6,
                               {.seed = config::ArrivalSeed(7, 0, 0, 0)});
  std::vector<int64_t> due;
  for (; stream.time_ns() <= 1e9; stream.Advance()) {
    ASSERT_TRUE(stream.found());
    due.push_back(std::llround(stream.time_ns()));
  }
  ASSERT_GT(due.size(), 100);
  EXPECT_EQ(SendTimes(ArrivalLoop(kBursts), GetParam()), due);
}

TEST_P(ComposedArrivalsTest, ConstantArrivalsFollowASchedule) {
  // Nothing for 100 ms, then 2000 per second for 10 ms, then nothing.
  const std::vector<int64_t> times =
      SendTimes(ArrivalLoop("process: 'constant' modulations { schedule { "
                            "segments { duration_ns: 100000000 factor: 0 } "
                            "segments { duration_ns: 10000000 factor: 2 } "
                            "segments { duration_ns: 1000 factor: 0 } } }"),
                GetParam());
  ASSERT_EQ(times.size(), 20);
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i], 100'000'000 + 500'000 * static_cast<int64_t>(i));
  }
}

TEST_P(ComposedArrivalsTest, RunTheirCountExactly) {
  EXPECT_EQ(
      SendTimes(ArrivalLoop(kBursts, "max_iteration_count: 77"), GetParam())
          .size(),
      77);
}

TEST_P(ComposedArrivalsTest, WhatIsNeverSentIsCounted) {
  const size_t due = SendTimes(ArrivalLoop(kBursts), 1).size();
  VirtualTimeSystem system(
      SlowServer(ArrivalLoop(kBursts, "max_parallel_iterations: 1")), 1);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const OfferedLoad& load =
      logs.instance_logs().at("client/0").offered_loads().at(0);
  EXPECT_EQ(load.offered_count(), static_cast<int64_t>(due));
  EXPECT_GT(load.unsent_count(), static_cast<int64_t>(due) / 2);
}

TEST_P(ComposedArrivalsTest, ARecordingEndsItsLoop) {
  // Without a limit of time or, as far as it goes, of the count.
  EXPECT_EQ(SendTimes("iterations { open_loop_interval_ns: 1000000 "
                      "max_iteration_count: 1000 arrivals { "
                      "process: 'recorded' recorded { repeat: false "
                      "times: '1\\n2\\n4\\n' } } }",
                      GetParam())
                .size(),
            3);
}

// A large backlog is counted in pieces, the last of which has no end.
TEST(ComposedArrivalsEngineTest, ABacklogBeforeTheEndOfTheRateIsInItsTime) {
  // 300,000 in 0.3 s, then nothing.
  VirtualTimeSystem system(
      SlowServer("iterations { open_loop_interval_ns: 1000 "
                 "max_duration_us: 1000000 max_parallel_iterations: 1 "
                 "arrivals { process: 'constant' modulations { schedule { "
                 "segments { duration_ns: 300000000 } "
                 "segments { duration_ns: 1000 factor: 0 } } } } }"),
      1);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const ServicePerformanceLog& log = logs.instance_logs().at("client/0");
  EXPECT_EQ(log.offered_loads().at(0).offered_count(), 300'000);
  const RpcTimeSeries& series = log.rpc_time_series().at(0);
  EXPECT_EQ(series.interval_ns(), 1'000'000'000);
  EXPECT_LE(series.intervals().rbegin()->index() - series.intervals(0).index(),
            2);
}

TEST(ComposedArrivalsEngineTest, NothingArrivesWhenTheRateIsNothing) {
  VirtualTimeSystem system(
      ClientServer(ArrivalLoop("modulations { schedule { "
                               "segments { duration_ns: 2000000000 factor: 0 } "
                               "segments { duration_ns: 1000 } } }")),
      2);
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(system.engine("client/0").progress().offered_count(), 0);
}

}  // namespace
}  // namespace distbench::engine
