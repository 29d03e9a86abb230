// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Activities on simulated hosts, compared with the theory of queues.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using google::protobuf::TextFormat;
using testing::AllOf;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pair;

// The CPU time of an iteration, on average.
constexpr double kMeanNs = 1e6;

DistributedSystemDescription CheckedTest(const std::string& text) {
  TestSequence sequence;
  EXPECT_TRUE(TextFormat::ParseFromString(text, sequence.add_tests())) << text;
  const absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(sequence);
  EXPECT_TRUE(checked.ok()) << checked.status();
  return checked->tests(0);
}

SimulatedFabric FabricWith(const std::string& host, double sigma = 0) {
  SimulatedFabric fabric;
  EXPECT_TRUE(
      TextFormat::ParseFromString(absl::Substitute(R"(host { $0 }
                          stacks { driver: "grpc" }
                          activities { activity: "ConsumeCpu" cpu_ns: $1
                                       sigma: $2 })",
                                                   host, kMeanNs, sigma),
                                  &fabric));
  return fabric;
}

TestResult RunTest(const std::string& test, const ClusterRunOptions& options) {
  absl::StatusOr<TestResult> result =
      RunSimulatedTest(CheckedTest(test), options);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

// The activity "work", in the pool "pool" unless its size is 0.
std::string Work(int pool_size) {
  return absl::StrCat(
      R"(activity_configs { name: "work"
           activity_settings { name: "activity_func"
                               string_value: "ConsumeCpu" })",
      pool_size == 0 ? "}"
                     : absl::StrCat(R"( pool_name: "pool" }
                         activity_pools { name: "pool" size: )",
                                    pool_size, "}"));
}

// A service whose main list runs the activity.
std::string Lonely(const std::string& iterations, int pool_size,
                   const std::string& more = "") {
  return absl::StrCat(R"(
    services { name: "lonely" count: 1 }
    action_lists { name: "lonely" action_names: "run" }
    actions { name: "run" activity_config_name: "work"
              iterations { )",
                      iterations, " } }", Work(pool_size), more);
}

stats::LogHistogram Decoded(const Histogram& proto) {
  stats::LogHistogram histogram;
  EXPECT_TRUE(results::AddHistogram(proto, histogram).ok());
  return histogram;
}

const ActivityLog& WorkLog(const TestResult& result,
                           const std::string& instance = "lonely/0") {
  return result.service_logs().instance_logs().at(instance).activity_logs().at(
      "work");
}

int64_t IterationCount(const ActivityLog& log) {
  EXPECT_EQ(log.activity_metrics(0).name(), "iteration_count");
  return log.activity_metrics(0).value_int();
}

// Poisson arrivals that keep a part `utilization` of k servers busy.
std::string PoissonArrivals(double utilization, int servers) {
  return absl::StrCat(
      "max_iteration_count: 400000 open_loop_interval_distribution: "
      "\"exponential\" open_loop_interval_ns: ",
      std::llround(kMeanNs / utilization / servers));
}

// The mean wait of Poisson arrivals in a pool, in mean service times.
double MeanWait(double utilization, int pool_size, double sigma) {
  const TestResult result =
      RunTest(Lonely(PoissonArrivals(utilization, pool_size), pool_size),
              {.fabric = FabricWith("cpus: 8", sigma)});
  return Decoded(WorkLog(result).queueing_ns()).mean() / kMeanNs;
}

// Pollaczek and Khinchine: the mean wait of M/G/1 is utilization * (1 + cv^2) /
// (2 * (1 - utilization)) service times; of lognormal ones, 1 + cv^2 =
// exp(sigma^2).
TEST(SimulatedActivitiesTest, APoolOfOneIsMG1) {
  EXPECT_NEAR(MeanWait(0.7, 1, 0), 0.7 / 0.6, 0.03);
  EXPECT_NEAR(MeanWait(0.7, 1, 0.5), 0.7 / 0.6 * std::exp(0.25), 0.06);
}

// M/M/2 waits utilization^2 / (1 - utilization^2) service times. Lee and
// Longton: with other service times, (1 + cv^2) / 2 times as long, about.
// Cosmetatos: with constant ones, this many times as long, within 1 %.
TEST(SimulatedActivitiesTest, APoolOfTwoIsMG2) {
  const double mm2 = 0.49 / 0.51;
  const double constant =
      0.5 * (1 + 0.3 * (std::sqrt(14) - 2) / (16 * 0.7 * 2));
  EXPECT_NEAR(MeanWait(0.7, 2, 0) / mm2, constant, 0.02);
  const double sigma = std::sqrt(std::log(2));  // cv = 1
  EXPECT_NEAR(MeanWait(0.7, 2, sigma) / mm2, 1, 0.08);
}

// The time in M/G/1 with processor sharing is 1 / (1 - utilization) service
// times, whatever their distribution.
TEST(SimulatedActivitiesTest, ManyThreadsShareACpu) {
  for (const double sigma : {0.0, 0.8}) {
    const TestResult result =
        RunTest(Lonely(PoissonArrivals(0.7, 1), /*pool_size=*/1000),
                {.fabric = FabricWith("cpus: 1", sigma)});
    EXPECT_EQ(Decoded(WorkLog(result).queueing_ns()).max(), 0);
    EXPECT_NEAR(Decoded(WorkLog(result).duration_ns()).mean() / kMeanNs,
                1 / 0.3, 0.12);
  }
}

// The shortest and the longest of four iterations that begin at once on a CPU.
std::pair<double, double> FourAtOnce(const std::string& scheduler) {
  const TestResult result =
      RunTest(Lonely("max_iteration_count: 4 max_parallel_iterations: 4",
                     /*pool_size=*/4),
              {.fabric = FabricWith("cpus: 1 scheduler: " + scheduler)});
  const stats::LogHistogram duration_ns =
      Decoded(WorkLog(result).duration_ns());
  return {duration_ns.min() / kMeanNs, duration_ns.max() / kMeanNs};
}

TEST(SimulatedActivitiesTest, ThreadsTakeTurnsOrShare) {
  const auto close_to = [](double shortest, double longest) {
    return Pair(DoubleNear(shortest, 0.01), DoubleNear(longest, 0.01));
  };
  EXPECT_THAT(FourAtOnce("FIFO"), close_to(1, 4));
  EXPECT_THAT(FourAtOnce("PROCESSOR_SHARING"), close_to(4, 4));
}

TEST(SimulatedActivitiesTest, TheDefaultPoolHasAThreadPerWorker) {
  const TestResult result =
      RunTest(Lonely("max_iteration_count: 6 max_parallel_iterations: 6",
                     /*pool_size=*/0, "workers_per_instance: 3"),
              {.fabric = FabricWith("cpus: 8")});
  const ActivityLog& log = WorkLog(result);
  EXPECT_EQ(IterationCount(log), 6);
  const stats::LogHistogram queueing_ns = Decoded(log.queueing_ns());
  EXPECT_EQ(queueing_ns.CountAtMost(10'000), 3);
  EXPECT_NEAR(queueing_ns.max(), kMeanNs, 10'000);
  EXPECT_NEAR(Decoded(log.duration_ns()).max(), kMeanNs, 10'000);
  // No work was done.
  EXPECT_EQ(log.activity_metrics_size(), 1);
}

// Requests whose handler runs the activity.
std::string Served(int count, const std::string& rpc = "",
                   const std::string& more = "") {
  return absl::StrCat(R"(
    services { name: "client" count: 3 }
    services { name: "server" count: 1 }
    rpc_descriptions { name: "rpc" client: "client" server: "server" )",
                      rpc, R"( }
    action_lists { name: "client" action_names: "loop" }
    action_lists { name: "rpc" action_names: "work" }
    actions { name: "work" activity_config_name: "work" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: )",
                      count, R"(
                           open_loop_interval_ns: 4000000
                           open_loop_interval_distribution: "exponential" } })",
                      Work(/*pool_size=*/0), more);
}

TEST(SimulatedActivitiesTest, HandlersUseTheCpusOfTheirHost) {
  const TestResult result =
      RunTest(Served(100), {.fabric = FabricWith("cpus: 2")});
  EXPECT_EQ(IterationCount(WorkLog(result, "server/0")), 300);
  const RUsage& server = result.resource_usage_logs()
                             .node_resources()
                             .at("node3")
                             .engine_usages()
                             .at("server/0");
  EXPECT_NEAR(server.user_cpu_time_seconds(), 0.3, 0.003);
}

TEST(SimulatedActivitiesTest, TheNumberOfThreadsDoesNotMatter) {
  const SimulatedFabric fabric = FabricWith("cpus: 2", /*sigma=*/1);
  const TestResult one = RunTest(Served(30), {.fabric = fabric});
  const TestResult two = RunTest(Served(30), {.fabric = fabric, .threads = 2});
  EXPECT_EQ(one.DebugString(), two.DebugString());
  EXPECT_EQ(IterationCount(WorkLog(one, "server/0")), 90);
}

// Iterations run or wait when the time is up: they end, and do not count.
TEST(SimulatedActivitiesTest, AStopEndsWhatRunsAndWhatWaits) {
  SimulatedFabric fabric = FabricWith("cpus: 8");
  fabric.mutable_activities(0)->set_cpu_ns(0.4e9);
  const TestResult result =
      RunTest(Lonely("max_iteration_count: 100 max_parallel_iterations: 10",
                     /*pool_size=*/3,
                     R"(attributes { key: "test_timeout" value: "1" })"),
              {.fabric = fabric});
  EXPECT_THAT(result.run_info().failure(), HasSubstr("test_timeout"));
  EXPECT_EQ(IterationCount(WorkLog(result)), 6);
}

// The clients give their calls up and are done while the server still works on
// them.
TEST(SimulatedActivitiesTest, TrafficEndsWhileAHandlerWorks) {
  SimulatedFabric fabric = FabricWith("cpus: 8");
  fabric.mutable_activities(0)->set_cpu_ns(5e9);
  const TestResult result =
      RunTest(Served(10, "deadline_us: 100"), {.fabric = fabric});
  EXPECT_FALSE(result.run_info().has_failure());
  EXPECT_LT(result.simulation().simulated_seconds(), 1);
  // What iterations have not run does not count.
  const RUsage& server = result.resource_usage_logs()
                             .node_resources()
                             .at("node3")
                             .engine_usages()
                             .at("server/0");
  EXPECT_GT(server.user_cpu_time_seconds(), 0);
  EXPECT_LE(server.user_cpu_time_seconds(),
            8 * result.simulation().simulated_seconds());
  EXPECT_EQ(
      result.service_logs().instance_logs().at("server/0").activity_logs_size(),
      0);
}

// An activity of 5 ms has the client's only CPU, so that the RPCs of 1, 2, 3
// and 4 ms are sent late: their server is not to blame. Only the answer to the
// one before may have to wait.
TEST(SimulatedActivitiesTest, ABusyHostSendsLate) {
  SimulatedFabric fabric = FabricWith("cpus: 1 scheduler: FIFO");
  fabric.mutable_activities(0)->set_cpu_ns(5e6);
  const TestResult result = RunTest(absl::StrCat(R"(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    rpc_descriptions { name: "rpc" client: "client" server: "server" }
    action_lists { name: "client" action_names: "work" action_names: "loop" }
    action_lists { name: "rpc" }
    actions { name: "work" activity_config_name: "work" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: 8
                           open_loop_interval_ns: 1000000 } })",
                                                 Work(/*pool_size=*/1)),
                                    {.fabric = fabric});
  const auto& samples = result.service_logs()
                            .instance_logs()
                            .at("client/0")
                            .peer_logs()
                            .at("server/0")
                            .rpc_logs()
                            .at(0)
                            .successful_rpc_samples();
  ASSERT_EQ(samples.size(), 8);
  int slow_count = 0;
  int64_t most_late_ns = 0;
  for (const RpcSample& sample : samples) {
    slow_count += sample.latency_ns() > 500'000 ? 1 : 0;
    most_late_ns = std::max<int64_t>(most_late_ns, sample.lateness_ns());
  }
  EXPECT_LE(slow_count, 1);
  EXPECT_GT(most_late_ns, 3'000'000);
}

TEST(SimulatedActivitiesTest, UnknownCostsAreRefusedByName) {
  SimulatedFabric fabric = FabricWith("");
  fabric.mutable_activities(0)->set_name("other");
  const absl::Status refused =
      RunSimulatedTest(CheckedTest(Served(1)), {.fabric = fabric}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("activity_configs[\"work\"]"),
                    HasSubstr("activity: \"ConsumeCpu\" name: \"work\""),
                    HasSubstr("distbench calibrate")));
  fabric.mutable_activities(0)->set_name("work");
  EXPECT_TRUE(
      RunSimulatedTest(CheckedTest(Served(1)), {.fabric = fabric}).ok());
}

}  // namespace
}  // namespace distbench::simulation
