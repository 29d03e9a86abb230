// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/cluster/simulated_cluster.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using google::protobuf::TextFormat;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAreArray;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

DistributedSystemDescription MakeTest(const std::string& text) {
  TestSequence sequence;
  EXPECT_TRUE(TextFormat::ParseFromString(text, sequence.add_tests())) << text;
  const absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(sequence);
  EXPECT_TRUE(checked.ok()) << checked.status();
  return checked->tests(0);
}

// Costs that are easy to add up; links of 10 us, so fast that bytes take no
// time.
SimulatedFabric RoundFabric() {
  SimulatedFabric fabric;
  EXPECT_TRUE(TextFormat::ParseFromString(
      R"(host { cpus: 4 }
         single_switch { host_link { gbps: 8000000 delay_ns: 10000 } }
         stacks {
           driver: "grpc"
           client_send { fixed_ns: 1000 ns_per_byte: 1 }
           server_receive { fixed_ns: 2000 }
           server_send { fixed_ns: 3000 }
           client_receive { fixed_ns: 4000 }
           wakeup_ns: 5000
           same_host_delay_ns: 700
         })",
      &fabric));
  return fabric;
}

// The RPC takes this long if nothing else goes on: costs, four links, and two
// threads that wake up.
constexpr int64_t kRequestBytes = 500;
constexpr int64_t kAloneNs =
    1000 + kRequestBytes + 2000 + 3000 + 4000 + 4 * 10'000 + 2 * 5000;

// A closed loop of `parallel` RPCs.
std::string ClosedLoop(int parallel, int count, const std::string& more = "") {
  return absl::StrCat(R"(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    payload_descriptions { name: "request" size: )",
                      kRequestBytes, R"( }
    rpc_descriptions { name: "rpc" client: "client" server: "server"
                       request_payload_name: "request" }
    action_lists { name: "client" action_names: "loop" }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: )",
                      count, " max_parallel_iterations: ", parallel, " } }",
                      more);
}

TestResult Simulate(const std::string& test, ClusterRunOptions options) {
  absl::StatusOr<TestResult> result = RunSimulatedTest(MakeTest(test), options);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

std::vector<int64_t> LatenciesOf(const TestResult& result) {
  std::vector<int64_t> latencies_ns;
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    for (const auto& [server, peer] : log.peer_logs()) {
      for (const auto& [rpc, rpc_log] : peer.rpc_logs()) {
        for (const auto& sample : rpc_log.successful_rpc_samples()) {
          latencies_ns.push_back(sample.latency_ns());
        }
      }
    }
  }
  return latencies_ns;
}

double Seconds(const TestResult& result) {
  return result.simulation().simulated_seconds();
}

TEST(SimulatedClusterTest, AnRpcAloneTakesTheSumOfItsParts) {
  const TestResult result =
      Simulate(ClosedLoop(1, 50), {.fabric = RoundFabric()});
  EXPECT_FALSE(result.run_info().has_failure());
  const std::vector<int64_t> latencies_ns = LatenciesOf(result);
  EXPECT_EQ(latencies_ns.size(), 50u);
  // Few bytes take up to a nanosecond on each link.
  EXPECT_THAT(latencies_ns, Each(AllOf(Ge(kAloneNs), Le(kAloneNs + 8))));
}

// As of drivers that send messages: at least the numbers of the RPC and of the
// instance in a request, and that of the instance in a response, 2 bytes each.
TEST(SimulatedClusterTest, NoMessageIsSmallerThanItsHeader) {
  SimulatedFabric fabric = RoundFabric();
  for (StackCosts::Cost* cost :
       {fabric.mutable_stacks(0)->mutable_server_receive(),
        fabric.mutable_stacks(0)->mutable_client_receive()}) {
    cost->set_ns_per_byte(1000);
  }
  const TestResult result = Simulate(R"(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    payload_descriptions { name: "byte" size: 1 }
    rpc_descriptions { name: "rpc" client: "client" server: "server"
                       request_payload_name: "byte"
                       response_payload_name: "byte" }
    action_lists { name: "client" action_names: "loop" }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: 10 } })",
                                     {.fabric = fabric});
  const RpcStatistics& statistics = result.service_logs()
                                        .instance_logs()
                                        .at("client/0")
                                        .peer_logs()
                                        .at("server/0")
                                        .rpc_logs()
                                        .at(0)
                                        .statistics();
  EXPECT_EQ(statistics.request_bytes(), 10 * 4);
  EXPECT_EQ(statistics.response_bytes(), 10 * 2);
  const int64_t expected_ns =
      kAloneNs - kRequestBytes + 4 + 1000 * 4 + 1000 * 2;
  EXPECT_THAT(LatenciesOf(result),
              Each(AllOf(Ge(expected_ns), Le(expected_ns + 8))));
}

// The counts of all seconds, in order.
std::vector<int64_t> SucceededBySecond(const TestResult& result) {
  std::vector<int64_t> counts;
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    for (const auto& [rpc, series] : log.rpc_time_series()) {
      for (const auto& interval : series.intervals()) {
        counts.push_back(interval.succeeded_count());
      }
    }
  }
  return counts;
}

TEST(SimulatedClusterTest, OnlyTimeStampsDependOnWhenItRuns) {
  const int64_t start_ns = 1'800'000'000'987'654'321;
  const std::string loop = ClosedLoop(4, 100'000);
  const TestResult early = Simulate(loop, {.fabric = RoundFabric()});
  const TestResult late =
      Simulate(loop, {.fabric = RoundFabric(), .start_unix_ns = start_ns});
  EXPECT_EQ(late.run_info().start_timestamp_ns() / 10'000'000,
            1'800'000'000'000'000'000 / 10'000'000);
  EXPECT_GT(SucceededBySecond(early).size(), 1u);
  EXPECT_EQ(SucceededBySecond(late), SucceededBySecond(early));
  EXPECT_EQ(
      late.run_info().end_timestamp_ns() - late.run_info().start_timestamp_ns(),
      early.run_info().end_timestamp_ns() -
          early.run_info().start_timestamp_ns());
  EXPECT_EQ(LatenciesOf(late), LatenciesOf(early));
  EXPECT_THAT(late.log_summary(), ElementsAreArray(early.log_summary()));
}

TEST(SimulatedClusterTest, ChecksFindWhatRunsWouldFind) {
  const DistributedSystemDescription test = MakeTest(ClosedLoop(1, 50));
  EXPECT_TRUE(CheckSimulatedTest(test, {}).ok());
  ClusterRunOptions one_host;
  one_host.host_count = 1;
  ClusterRunOptions no_cpus;
  no_cpus.fabric.mutable_host()->set_cpus(0);
  for (const ClusterRunOptions& options : {one_host, no_cpus}) {
    EXPECT_FALSE(CheckSimulatedTest(test, options).ok());
    EXPECT_EQ(CheckSimulatedTest(test, options),
              RunSimulatedTest(test, options).status());
  }
  DistributedSystemDescription unknown = test;
  unknown.set_default_protocol("loopback");
  EXPECT_EQ(CheckSimulatedTest(unknown, {}),
            RunSimulatedTest(unknown, {}).status());
}

TEST(SimulatedClusterTest, WhatIsRecordedStaysWithinItsMemory) {
  // A sample has 64 bytes.
  const TestResult result = Simulate(
      ClosedLoop(1, 5000),
      {.fabric = RoundFabric(), .memory_bytes = int64_t{5} * 64 * 400});
  EXPECT_THAT(LatenciesOf(result).size(), AllOf(Ge(1u), Le(400u)));
  EXPECT_THAT(result.log_summary(), Contains(HasSubstr("rpc: N: 5000 ")));
}

// Three of one host, two of which send: each has half of the samples.
TEST(SimulatedClusterTest, InstancesOfOneHostShareTheMemoryOnce) {
  const TestResult result = Simulate(
      R"(
    services { name: "client" count: 2 }
    services { name: "server" count: 1 }
    node_service_bundles { key: "node0" value {
      services: "client/0" services: "client/1" services: "server/0" } }
    rpc_descriptions { name: "rpc" client: "client" server: "server" }
    action_lists { name: "client" action_names: "loop" }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: 5000 } })",
      {.fabric = RoundFabric(), .memory_bytes = int64_t{5} * 64 * 400});
  EXPECT_THAT(LatenciesOf(result).size(), AllOf(Ge(300u), Le(400u)));
}

TEST(SimulatedClusterTest, InstancesOfOneHostDoNotUseTheNetwork) {
  const TestResult result =
      Simulate(ClosedLoop(1, 50,
                          R"(node_service_bundles { key: "node0"
                      value { services: "client/0" services: "server/0" } })"),
               {.fabric = RoundFabric()});
  EXPECT_EQ(result.simulation().host_count(), 1);
  EXPECT_THAT(LatenciesOf(result),
              Each(kAloneNs - 4 * 10'000 + 2 * int64_t{700}));
}

// The client's and the server's single workers each need 5 to 5.5 us per RPC.
TEST(SimulatedClusterTest, TheSlowestWorkerLimitsTheRate) {
  const TestResult result =
      Simulate(ClosedLoop(200, 20'000, "workers_per_instance: 1"),
               {.fabric = RoundFabric()});
  EXPECT_NEAR(20'000 / Seconds(result), 1e9 / 5500, 0.01 * 1e9 / 5500);
  const RUsage& client = result.resource_usage_logs()
                             .node_resources()
                             .at("node0")
                             .engine_usages()
                             .at("client/0");
  EXPECT_NEAR(client.user_cpu_time_seconds(), 20'000 * 5500e-9, 1e-4);
}

TEST(SimulatedClusterTest, WorkersShareTheWork) {
  const TestResult result =
      Simulate(ClosedLoop(200, 20'000, "workers_per_instance: 4"),
               {.fabric = RoundFabric()});
  EXPECT_NEAR(20'000 / Seconds(result), 4e9 / 5500, 0.05 * 4e9 / 5500);
}

TEST(SimulatedClusterTest, CpusLimitTheRateOfManyWorkers) {
  SimulatedFabric fabric = RoundFabric();
  fabric.mutable_host()->set_cpus(2);
  const TestResult result = Simulate(
      ClosedLoop(200, 20'000, "workers_per_instance: 8"), {.fabric = fabric});
  EXPECT_NEAR(20'000 / Seconds(result), 2e9 / 5500, 0.05 * 2e9 / 5500);
}

TEST(SimulatedClusterTest, SlowHostsTakeLonger) {
  SimulatedFabric fabric = RoundFabric();
  fabric.mutable_host()->set_slow_share(1);
  fabric.mutable_host()->set_slowness(2);
  const TestResult result = Simulate(ClosedLoop(1, 5), {.fabric = fabric});
  const int64_t on_links_ns = 4 * 10'000;
  const int64_t expected_ns = on_links_ns + 2 * (kAloneNs - on_links_ns);
  EXPECT_THAT(LatenciesOf(result),
              Each(AllOf(Ge(expected_ns), Le(expected_ns + 8))));
}

// Half of the paths between the two switches are ten times as long.
TEST(SimulatedClusterTest, TheSeedChoosesPathsAndTheVariationOfCosts) {
  SimulatedFabric paths = RoundFabric();
  EXPECT_TRUE(TextFormat::MergeFromString(
      R"(graph {
           switches { name: "left" hosts: "a[0-7]" }
           switches { name: "right" hosts: "b[0-7]" }
           switches { name: "near" } switches { name: "far" }
           links { from: "left" to: "near" } links { from: "near" to: "right" }
           links { from: "left" to: "far" link { delay_ns: 10000 } }
           links { from: "far" to: "right" }
         })",
      &paths));
  SimulatedFabric costs = RoundFabric();
  costs.mutable_stacks(0)->set_sigma(0.5);
  // Of the first RPC of each client, in the order of clients.
  const auto latencies = [](const SimulatedFabric& fabric, int seed) {
    const TestResult result = Simulate(absl::StrCat(R"(
    services { name: "client" count: 8 }
    services { name: "server" count: 8 }
    rpc_descriptions { name: "rpc" client: "client" server: "server"
                       fanout_filter: "same_x" }
    action_lists { name: "client" action_names: "loop" }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: 5 } }
    random_seed: )",
                                                    seed),
                                       {.fabric = fabric});
    const auto& logs = result.service_logs().instance_logs();
    std::vector<int64_t> latencies_ns;
    for (int i = 0; i < 8; ++i) {
      latencies_ns.push_back(logs.at(absl::StrCat("client/", i))
                                 .peer_logs()
                                 .at(absl::StrCat("server/", i))
                                 .rpc_logs()
                                 .at(0)
                                 .successful_rpc_samples(0)
                                 .latency_ns());
    }
    return latencies_ns;
  };
  for (const SimulatedFabric& fabric : {paths, costs}) {
    EXPECT_EQ(latencies(fabric, 1), latencies(fabric, 1));
    EXPECT_NE(latencies(fabric, 1), latencies(fabric, 2));
  }
}

TEST(SimulatedClusterTest, TheNumberOfThreadsDoesNotMatter) {
  const std::string test = R"(
    services { name: "a" count: 12 }
    rpc_descriptions { name: "rpc" client: "a" server: "a"
                       fanout_filter: "all" }
    action_lists { name: "a" action_names: "loop" }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_duration_us: 20000 open_loop_interval_ns: 100000
                           open_loop_interval_distribution: "sync_burst" } })";
  SimulatedFabric fabric = RoundFabric();
  fabric.mutable_stacks(0)->set_sigma(0.5);
  fabric.mutable_host()->set_stalls_per_second(100);
  fabric.mutable_host()->set_mean_stall_ns(100'000);
  const TestResult one = Simulate(test, {.fabric = fabric, .threads = 1});
  EXPECT_GT(LatenciesOf(one).size(), 10'000u);
  for (int threads : {2, 3}) {
    const TestResult several =
        Simulate(test, {.fabric = fabric, .threads = threads});
    EXPECT_EQ(several.DebugString(), one.DebugString()) << threads;
  }
}

TEST(SimulatedClusterTest, DeadlinesEndCallsInTime) {
  const TestResult result = Simulate(R"(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    rpc_descriptions { name: "rpc" client: "client" server: "server"
                       deadline_us: 30 }
    action_lists { name: "client" action_names: "loop" }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: 10 } })",
                                     {.fabric = RoundFabric()});
  EXPECT_TRUE(LatenciesOf(result).empty());
  const auto& log = result.service_logs().instance_logs().at("client/0");
  const auto& rpcs = log.peer_logs().at("server/0").rpc_logs().at(0);
  ASSERT_EQ(rpcs.failed_rpc_samples_size(), 10);
  EXPECT_EQ(rpcs.failed_rpc_samples(0).latency_ns(), 30'000);
}

// An action of the client that sends an RPC each millisecond.
std::string OpenLoop(int count, const char* rpc, const char* more = "") {
  return absl::StrCat(R"(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    rpc_descriptions { name: "rpc" client: "client" server: "server" )",
                      rpc, R"( }
    action_lists { name: "client" action_names: "loop" }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { open_loop_interval_ns: 1000000
                           max_iteration_count: )",
                      count, " } }", more);
}

// The answer to the last RPC before the freeze comes in time, and is read much
// later.
TEST(SimulatedClusterTest, AFrozenClientDoesNotBlameItsServer) {
  const TestResult result =
      Simulate(OpenLoop(10, "deadline_us: 500",
                        R"(server_faults { name: "freeze" service: "client"
                      start: "3010us" duration: "3ms" freeze: true })"),
               {.fabric = RoundFabric()});
  const std::vector<int64_t> latencies_ns = LatenciesOf(result);
  ASSERT_EQ(latencies_ns.size(), 10u);
  EXPECT_EQ(std::count_if(latencies_ns.begin(), latencies_ns.end(),
                          [](int64_t ns) { return ns > 1'000'000; }),
            1);
}

// The answer is still on its way when the time is up.
TEST(SimulatedClusterTest, TheEndOfATestEndsAFreeze) {
  SimulatedFabric fabric = RoundFabric();
  fabric.mutable_single_switch()->mutable_host_link()->set_delay_ns(
      1'000'000'000);
  const TestResult result =
      Simulate(OpenLoop(10, "",
                        R"(attributes { key: "test_timeout" value: "2" }
                           server_faults { name: "freeze" service: "client"
                             start: "5500us" duration: "1h" freeze: true })"),
               {.fabric = fabric});
  const auto& log = result.service_logs().instance_logs().at("client/0");
  const auto& rpcs = log.peer_logs().at("server/0").rpc_logs().at(0);
  ASSERT_GE(rpcs.failed_rpc_samples_size(), 1);
  EXPECT_LT(rpcs.failed_rpc_samples(0).latency_ns(), 3'000'000'000);
}

TEST(SimulatedClusterTest, AFrozenServerAnswersAfterwards) {
  const TestResult result =
      Simulate(ClosedLoop(1, 20,
                          R"(server_faults { name: "freeze" service: "server"
                      start: "100us" duration: "5ms" freeze: true })"),
               {.fabric = RoundFabric()});
  const std::vector<int64_t> latencies_ns = LatenciesOf(result);
  ASSERT_EQ(latencies_ns.size(), 20u);
  EXPECT_EQ(std::count_if(latencies_ns.begin(), latencies_ns.end(),
                          [](int64_t ns) { return ns > 1'000'000; }),
            1);
}

TEST(SimulatedClusterTest, EndlessTrafficEndsWithItsTimeout) {
  const TestResult result =
      Simulate(ClosedLoop(1, 1'000'000,
                          R"(attributes { key: "test_timeout" value: "1" })"),
               {.fabric = RoundFabric()});
  EXPECT_THAT(result.run_info().failure(), HasSubstr("test_timeout of 1s"));
  EXPECT_GT(LatenciesOf(result).size(), 10'000u);
}

// The limit is noticed, and the client's calls end, within one window of 10 ms.
TEST(SimulatedClusterTest, AnOverloadIsKnownEvenIfItWasTheLastToHappen) {
  SimulatedFabric fabric = RoundFabric();
  fabric.mutable_single_switch()->mutable_host_link()->set_delay_ns(10'000'000);
  const TestResult result =
      Simulate(OpenLoop(100, "", "overload_limits { max_pending_rpcs: 5 }"),
               {.fabric = fabric});
  EXPECT_THAT(result.run_info().failure(), HasSubstr("Too many RPCs pending"));
  EXPECT_TRUE(result.run_info().overloaded());
}

TEST(SimulatedClusterTest, WaitingForTheTimeoutTakesItsTime) {
  const TestResult result = Simulate(R"(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    rpc_descriptions { name: "rpc" client: "client" server: "server" }
    action_lists { name: "client" action_names: "loop" }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: 9
                           open_loop_interval_ns: 5000000000 } }
    attributes { key: "test_timeout" value: "3" })",
                                     {.fabric = RoundFabric()});
  EXPECT_NEAR(Seconds(result), 3, 1e-3);
}

// Not with the window, which is as long as a link.
TEST(SimulatedClusterTest, ATestEndsWithItsTraffic) {
  SimulatedFabric fabric = RoundFabric();
  fabric.mutable_single_switch()->mutable_host_link()->set_delay_ns(
      1'000'000'000);
  const TestResult result = Simulate(ClosedLoop(1, 1), {.fabric = fabric});
  EXPECT_NEAR(Seconds(result), 4, 1e-3);
}

TEST(SimulatedClusterTest, TrafficThatCostsNothingEndsToo) {
  SimulatedFabric fabric = RoundFabric();
  fabric.mutable_stacks(0)->Clear();
  fabric.mutable_stacks(0)->set_driver("grpc");
  const TestResult result = Simulate(
      R"(services { name: "client" count: 1 }
         services { name: "server" count: 1 }
         rpc_descriptions { name: "rpc" client: "client" server: "server" }
         action_lists { name: "client" action_names: "loop" }
         action_lists { name: "rpc" }
         actions { name: "loop" rpc_name: "rpc"
                   iterations { max_duration_us: 100 } }
         node_service_bundles { key: "node0"
           value { services: "client/0" services: "server/0" } })",
      {.fabric = fabric});
  EXPECT_FALSE(result.run_info().has_failure());
  EXPECT_GT(LatenciesOf(result).size(), 1000u);
}

TEST(SimulatedClusterTest, CancelledTestsKeepWhatTheyMeasured) {
  std::atomic<bool> is_cancelled = false;
  const TestResult result = Simulate(
      ClosedLoop(1, 1'000'000'000),
      {.fabric = RoundFabric(),
       .is_cancelled = &is_cancelled,
       .on_progress = [&](const ClusterRunOptions::Progress& progress) {
         EXPECT_GT(progress.succeeded, 0);
         is_cancelled = true;
       }});
  EXPECT_THAT(result.run_info().failure(), HasSubstr("cancelled"));
  EXPECT_FALSE(LatenciesOf(result).empty());
}

absl::Status Refused(const std::string& test, ClusterRunOptions options) {
  return RunSimulatedTest(MakeTest(test), options).status();
}

TEST(SimulatedClusterTest, TooFewHostsAreAnError) {
  EXPECT_THAT(std::string(Refused(ClosedLoop(1, 1),
                                  {.fabric = RoundFabric(), .host_count = 1})
                              .message()),
              HasSubstr("on 1 simulated hosts: the test needs 2 nodes"));
}

TEST(SimulatedClusterTest, StreamsAreRefusedByName) {
  const absl::Status refused = Refused(R"(
    services { name: "client" count: 1
               protocol_driver_options_name: "stream" }
    services { name: "server" count: 1
               protocol_driver_options_name: "stream" }
    protocol_driver_options { name: "stream" protocol_name: "grpc_stream" }
    rpc_descriptions { name: "rpc" client: "client" server: "server"
                       stream { } }
    action_lists { name: "client" action_names: "loop" }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc" })",
                                       {.fabric = RoundFabric()});
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("rpc_descriptions[\"rpc\"].stream"));
}

TEST(SimulatedClusterTest, ControlGroupsAreRefusedUnlessTheyMayFail) {
  // Their rules are another product's.
  DistributedSystemDescription test = MakeTest(ClosedLoop(1, 1));
  EXPECT_TRUE(TextFormat::MergeFromString(
      R"(controls { name: "limited" strict: true
                    groups { services: "server" cpu_max: "50%" } })",
      &test));
  EXPECT_THAT(
      std::string(
          RunSimulatedTest(test, {.fabric = RoundFabric()}).status().message()),
      HasSubstr("controls: control groups are not simulated"));
  test.mutable_controls()->set_strict(false);
  EXPECT_TRUE(RunSimulatedTest(test, {.fabric = RoundFabric()}).ok());
}

// A fabric in which each side's sending and receiving cost 1 us, and a batch
// 10 us, on one host.
SimulatedFabric BatchFabric() {
  SimulatedFabric fabric = RoundFabric();
  StackCosts& costs = *fabric.mutable_stacks(0);
  costs.clear_wakeup_ns();
  costs.clear_same_host_delay_ns();
  for (StackCosts::Cost* cost :
       {costs.mutable_client_send(), costs.mutable_server_receive(),
        costs.mutable_server_send(), costs.mutable_client_receive()}) {
    cost->Clear();
    cost->set_fixed_ns(1000);
    cost->set_batch_ns(10'000);
  }
  return fabric;
}

constexpr char kOnOneHost[] = R"(
  workers_per_instance: 1
  node_service_bundles {
    key: "node0" value { services: "client/0" services: "server/0" } })";

double CpuNs(const TestResult& result) {
  double seconds = 0;
  for (const auto& [node, resources] :
       result.resource_usage_logs().node_resources()) {
    for (const auto& [instance, usage] : resources.engine_usages()) {
      seconds += usage.user_cpu_time_seconds();
    }
  }
  return seconds * 1e9;
}

TEST(SimulatedClusterTest, MessagesThatAreTogetherShareABatch) {
  const TestResult alone =
      Simulate(ClosedLoop(1, 100, kOnOneHost), {.fabric = BatchFabric()});
  EXPECT_THAT(LatenciesOf(alone), Each(44'000));
  const TestResult together =
      Simulate(ClosedLoop(10, 1000, kOnOneHost), {.fabric = BatchFabric()});
  // Ten at a time: 4 * (10 us + 10 * 1 us).
  EXPECT_NEAR(CpuNs(together), 100 * 80'000, 0.01 * 100 * 80'000);
  EXPECT_NEAR(Seconds(together) * 1e9, 100 * 80'000, 0.02 * 100 * 80'000);
}

TEST(SimulatedClusterTest, WakingUpTakesCpuTimeOfWorkersThatWereIdle) {
  SimulatedFabric fabric = BatchFabric();
  fabric.mutable_stacks(0)->set_wakeup_cpu_ns(5000);
  const TestResult alone =
      Simulate(ClosedLoop(1, 100, kOnOneHost), {.fabric = fabric});
  EXPECT_THAT(LatenciesOf(alone), Each(44'000 + 2 * 5000));
  const TestResult together =
      Simulate(ClosedLoop(10, 1000, kOnOneHost), {.fabric = fabric});
  EXPECT_NEAR(CpuNs(together), 100 * 90'000, 0.02 * 100 * 90'000);
}

TEST(SimulatedClusterTest, WorkAfterSendingDelaysNobody) {
  SimulatedFabric fabric = BatchFabric();
  fabric.mutable_stacks(0)->mutable_client_send()->set_after_ns(3000);
  fabric.mutable_stacks(0)->mutable_server_send()->set_after_ns(4000);
  const TestResult result =
      Simulate(ClosedLoop(1, 100, kOnOneHost), {.fabric = fabric});
  EXPECT_THAT(LatenciesOf(result), Each(44'000 - 7000));
  EXPECT_NEAR(CpuNs(result), 100 * 44'000, 2 * 44'000);
}

TEST(SimulatedClusterTest, BusyHostsNeedNotWakeUp) {
  SimulatedFabric fabric = BatchFabric();
  fabric.mutable_host()->set_cpus(1);
  fabric.mutable_stacks(0)->set_wakeup_ns(20'000);
  fabric.mutable_stacks(0)->mutable_client_send()->set_after_ns(5000);
  // The client still uses the only CPU when the request arrives, the server
  // when the reply does.
  const TestResult result =
      Simulate(ClosedLoop(1, 100, kOnOneHost), {.fabric = fabric});
  EXPECT_THAT(LatenciesOf(result), Each(44'000 + 20'000));
}

}  // namespace
}  // namespace distbench::simulation
