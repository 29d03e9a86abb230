// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/calibration/calibrate.h"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/result_file.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kStartSecond = 1'700'000'000;
constexpr int kSecondsPerPhase = 5;
constexpr int kInFlight = 16;

// What the made-up hosts cost: in all, and per side.
constexpr double kBatchNs = 8000;
constexpr double kFixedNs = 2000;
constexpr double kClientSendsNsPerByte = 0.1;
constexpr double kClientReceivesNsPerByte = 0.3;
constexpr double kServerReceivesNsPerByte = 0.2;
constexpr double kServerSendsNsPerByte = 0.05;
constexpr double kWakeupNs = 3000;

struct MadeUpPhase {
  const char* name;
  int in_flight;
  int64_t request_bytes;
  int64_t response_bytes;
};
constexpr MadeUpPhase kPhases[] = {{"small", 1, 64, 64},
                                   {"large_request", 1, 262144, 64},
                                   {"large_response", 1, 64, 262144},
                                   {"many", kInFlight, 64, 64}};

// Batches include what small messages cost per byte.
double CpuNs(const MadeUpPhase& phase, double per_request_byte,
             double per_response_byte) {
  return kBatchNs / phase.in_flight + kFixedNs +
         per_request_byte * static_cast<double>(phase.request_bytes) +
         per_response_byte * static_cast<double>(phase.response_bytes);
}

class MadeUpRun {
 public:
  MadeUpRun() {
    result_ = base::FromText<TestResult>(R"(
      traffic_config {
        name: "calibration" workers_per_instance: 1
        services { name: "client" count: 1 }
        services { name: "server" count: 1 }
        protocol_driver_options {
          name: "default_protocol_driver_options" protocol_name: "tcp"
          client_settings { name: "spin_us" int64_value: 0 } }
      }
      placement {
        service_endpoints { key: "client/0" value { node_alias: "node0" } }
        service_endpoints { key: "server/0" value { node_alias: "node1" } }
      })");
    for (const char* node : {"node0", "node1"}) {
      HostFacts& host = *Resources(node).mutable_host();
      host.set_hostname("here");
      host.set_cpu_count(2);
    }
    for (int i = 0; i < 4; ++i) AddPhase(i);
  }

  NodeResources& Resources(const std::string& node) {
    return (
        *result_.mutable_resource_usage_logs()->mutable_node_resources())[node];
  }
  TestResult& result() { return result_; }
  TestSequenceResults Results() const {
    TestSequenceResults results;
    *results.add_test_results() = result_;
    return results;
  }

  // Of small RPCs, without stalls.
  double small_latency_ns =
      2 * (kBatchNs + kFixedNs + kWakeupNs) +
      64 * (kClientSendsNsPerByte + kClientReceivesNsPerByte +
            kServerReceivesNsPerByte + kServerSendsNsPerByte);

 private:
  void AddPhase(int index) {
    const MadeUpPhase& phase = kPhases[index];
    DistributedSystemDescription& test = *result_.mutable_traffic_config();
    RpcSpec& rpc = *test.add_rpc_descriptions();
    rpc.set_name(phase.name);
    rpc.add_client("client");
    rpc.set_server("server");
    Action& action = *test.add_actions();
    action.set_rpc_name(phase.name);
    action.mutable_iterations()->set_max_parallel_iterations(phase.in_flight);

    auto& log =
        (*result_.mutable_service_logs()->mutable_instance_logs())["client/0"];
    RpcStatistics& statistics =
        *(*(*log.mutable_peer_logs())["server/0"].mutable_rpc_logs())[index]
             .mutable_statistics();
    constexpr int64_t kPerSecond = 1000;
    const int64_t begin = kStartSecond + index * kSecondsPerPhase;
    statistics.set_succeeded_count(kPerSecond * kSecondsPerPhase);
    statistics.set_request_bytes(statistics.succeeded_count() *
                                 phase.request_bytes);
    statistics.set_response_bytes(statistics.succeeded_count() *
                                  phase.response_bytes);
    statistics.set_first_start_timestamp_ns(begin * kSecondNs);
    statistics.set_last_end_timestamp_ns((begin + kSecondsPerPhase) *
                                         kSecondNs);
    stats::LogHistogram latencies_ns;
    latencies_ns.RecordN(std::llround(small_latency_ns),
                         statistics.succeeded_count() - 5);
    latencies_ns.RecordN(4'000'000, 5);  // stalls
    results::EncodeHistogram(latencies_ns,
                             *statistics.mutable_service_time_ns());

    RpcTimeSeries& series = (*log.mutable_rpc_time_series())[index];
    series.set_interval_ns(kSecondNs);
    for (int64_t second = begin; second < begin + kSecondsPerPhase; ++second) {
      RpcInterval& interval = *series.add_intervals();
      interval.set_index(second);
      interval.set_sent_count(kPerSecond);
      interval.set_succeeded_count(kPerSecond);
      interval.set_request_bytes(kPerSecond * phase.request_bytes);
      interval.set_response_bytes(kPerSecond * phase.response_bytes);
      results::EncodeHistogram(stats::LogHistogram(),
                               *interval.mutable_service_time_ns());
      // All in flight share a sleep.
      const double sleeps = 1.0 * kPerSecond / phase.in_flight;
      // Samples that are not aligned with the seconds.
      AddSample("node0", second,
                kPerSecond * CpuNs(phase, kClientSendsNsPerByte,
                                   kClientReceivesNsPerByte),
                sleeps);
      AddSample("node1", second,
                kPerSecond * CpuNs(phase, kServerReceivesNsPerByte,
                                   kServerSendsNsPerByte),
                sleeps);
    }
  }

  void AddSample(const std::string& node, int64_t second, double cpu_ns,
                 double sleeps) {
    ResourceSample& sample = *Resources(node).add_samples();
    sample.set_end_timestamp_ns(second * kSecondNs + kSecondNs / 3);
    sample.set_duration_ns(kSecondNs);
    sample.set_process_cpu_ns(std::llround(cpu_ns));
    sample.set_voluntary_context_switches(std::llround(sleeps));
  }

  TestResult result_;
};

void ExpectCost(const StackCosts::Cost& cost, double ns_per_byte) {
  EXPECT_NEAR(cost.fixed_ns(), kFixedNs / 2, 40);
  EXPECT_NEAR(cost.batch_ns(), kBatchNs / 2, 1);
  EXPECT_NEAR(cost.ns_per_byte(), ns_per_byte, 1e-3);
  // What is not known of the division.
  EXPECT_NEAR(cost.batch_error_ns(), kBatchNs / std::sqrt(12), 1);
}

TEST(CalibrateTest, FindsTheCostsThatAResultWasMadeOf) {
  const auto fabric = Calibrate(MadeUpRun().Results());
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  ASSERT_EQ(fabric->stacks_size(), 1);
  const StackCosts& costs = fabric->stacks(0);
  EXPECT_EQ(costs.driver(), "tcp");
  ExpectCost(costs.client_send(), kClientSendsNsPerByte);
  ExpectCost(costs.server_receive(), kServerReceivesNsPerByte);
  ExpectCost(costs.server_send(), kServerSendsNsPerByte);
  ExpectCost(costs.client_receive(), kClientReceivesNsPerByte);
  EXPECT_NEAR(costs.wakeup_ns(), kWakeupNs, 200);
  EXPECT_EQ(costs.client_send().after_ns(), 0);
  EXPECT_EQ(fabric->host().cpus(), 2);
  EXPECT_NEAR(fabric->host().stalls_per_second(), 1, 0.01);
  EXPECT_NEAR(fabric->host().mean_stall_ns(), 4e6 - 26e3, 2e4);
  EXPECT_FALSE(fabric->has_single_switch());
}

TEST(CalibrateTest, SecondsWithSeveralRpcsAreLeftOut) {
  MadeUpRun run;
  auto& series = *run.result()
                      .mutable_service_logs()
                      ->mutable_instance_logs()
                      ->at("client/0")
                      .mutable_rpc_time_series();
  // Large requests, too, in two seconds of the small ones.
  RpcTimeSeries both = series.at(0);
  both.mutable_intervals()->DeleteSubrange(2, both.intervals_size() - 2);
  both.MergeFrom(series.at(1));
  series.at(1) = both;
  const auto fabric = Calibrate(run.Results());
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  ExpectCost(fabric->stacks(0).client_send(), kClientSendsNsPerByte);
}

void SetLatency(TestResult& result, int rpc, int64_t latency_ns) {
  stats::LogHistogram latencies_ns;
  latencies_ns.RecordN(latency_ns, 1000);
  results::EncodeHistogram(latencies_ns, *result.mutable_service_logs()
                                              ->mutable_instance_logs()
                                              ->at("client/0")
                                              .mutable_peer_logs()
                                              ->at("server/0")
                                              .mutable_rpc_logs()
                                              ->at(rpc)
                                              .mutable_statistics()
                                              ->mutable_service_time_ns());
}

// Multiplies the CPU time of both nodes' sample with this number.
void MakeBusier(MadeUpRun& run, int sample) {
  for (const char* node : {"node0", "node1"}) {
    ResourceSample& busy = *run.Resources(node).mutable_samples(sample);
    busy.set_process_cpu_ns(10 * busy.process_cpu_ns());
  }
}

TEST(CalibrateTest, SecondsWithSetUpOrResultsDoNotCount) {
  MadeUpRun run;
  MakeBusier(run, 1);
  MakeBusier(run, 4 * kSecondsPerPhase - 1);
  const auto fabric = Calibrate(run.Results());
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  ExpectCost(fabric->stacks(0).client_send(), kClientSendsNsPerByte);
  ExpectCost(fabric->stacks(0).server_send(), kServerSendsNsPerByte);
}

TEST(CalibrateTest, SecondsWithFailuresOrWarmUpDoNotCount) {
  for (const bool is_warmup : {false, true}) {
    MadeUpRun run;
    RpcInterval& interval = *run.result()
                                 .mutable_service_logs()
                                 ->mutable_instance_logs()
                                 ->at("client/0")
                                 .mutable_rpc_time_series()
                                 ->at(1)
                                 .mutable_intervals(1);
    if (is_warmup) {
      interval.set_warmup_count(1);
    } else {
      interval.set_failed_count(1);
    }
    MakeBusier(run, kSecondsPerPhase + 1);
    MakeBusier(run, kSecondsPerPhase + 2);
    const auto fabric = Calibrate(run.Results());
    ASSERT_TRUE(fabric.ok()) << fabric.status();
    ExpectCost(fabric->stacks(0).client_send(), kClientSendsNsPerByte);
  }
}

ProtocolDriverOptions& OptionsOf(MadeUpRun& run) {
  return *run.result()
              .mutable_traffic_config()
              ->mutable_protocol_driver_options(0);
}

// Small RPCs between workers that poll.
class PollingRun : public MadeUpRun {
 public:
  explicit PollingRun(int64_t latency_ns) {
    OptionsOf(*this).mutable_client_settings(0)->set_int64_value(1000);
    DistributedSystemDescription& test = *result().mutable_traffic_config();
    test.mutable_rpc_descriptions()->DeleteSubrange(1, 3);
    test.mutable_actions()->DeleteSubrange(1, 3);
    auto& logs = *result()
                      .mutable_service_logs()
                      ->mutable_instance_logs()
                      ->at("client/0")
                      .mutable_peer_logs()
                      ->at("server/0")
                      .mutable_rpc_logs();
    for (int rpc = 1; rpc < 4; ++rpc) logs.erase(rpc);
    SetLatency(result(), 0, latency_ns);
  }
};

TestSequenceResults ResultsOf(MadeUpRun& first, MadeUpRun& second) {
  TestSequenceResults results = first.Results();
  *results.add_test_results() = second.result();
  return results;
}

TEST(CalibrateTest, PollingWorkersShowWhatWakeupsCost) {
  MadeUpRun run;
  PollingRun polling(11'000);
  const auto fabric = Calibrate(ResultsOf(run, polling));
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  ASSERT_EQ(fabric->stacks_size(), 1);
  const StackCosts& costs = fabric->stacks(0);
  // Both sides' 20 us less 11 us, half each.
  EXPECT_NEAR(costs.wakeup_cpu_ns(), 4500, 100);
  EXPECT_NEAR(costs.client_send().batch_ns(), (kBatchNs - 4500) / 2, 50);
  EXPECT_NEAR(costs.wakeup_ns(), kWakeupNs, 200);
}

TEST(CalibrateTest, BetweenHostsTheNetworkIsNoWorkOfPollingWorkers) {
  MadeUpRun run;
  PollingRun polling(11'000 + 40'000);
  for (MadeUpRun* each : {&run, static_cast<MadeUpRun*>(&polling)}) {
    each->Resources("node1").mutable_host()->set_hostname("there");
  }
  SetLatency(run.result(), 0, 20'000 + 40'000);
  const auto fabric = Calibrate(ResultsOf(run, polling));
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  EXPECT_NEAR(fabric->single_switch().host_link().delay_ns(), 10'000, 200);
  EXPECT_NEAR(fabric->stacks(0).wakeup_cpu_ns(), 4500, 300);
}

TEST(CalibrateTest, ASidesWakeupsVaryLikeItsOtherJobs) {
  MadeUpRun run;
  PollingRun polling(11'000);
  stats::LogHistogram latencies_ns;
  latencies_ns.RecordN(30'000, 80);
  latencies_ns.RecordN(34'000, 20);
  results::EncodeHistogram(latencies_ns, *run.result()
                                              .mutable_service_logs()
                                              ->mutable_instance_logs()
                                              ->at("client/0")
                                              .mutable_peer_logs()
                                              ->at("server/0")
                                              .mutable_rpc_logs()
                                              ->at(0)
                                              .mutable_statistics()
                                              ->mutable_service_time_ns());
  const auto fabric = Calibrate(ResultsOf(run, polling));
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  // Four jobs of 2 750 ns, and two of 4 500.
  const double jobs_ns = std::sqrt(4 * 2750. * 2750 + 2 * 4500. * 4500);
  EXPECT_NEAR(fabric->stacks(0).sigma(), 4000 / 1.2816 / jobs_ns, 0.03);
}

TEST(CalibrateTest, ATestThatPollsMustBeAsInTheConfig) {
  MadeUpRun run;
  PollingRun failed(11'000);
  failed.result().mutable_run_info()->set_failure("lost node1");
  EXPECT_THAT(base::Message(Calibrate(ResultsOf(run, failed)).status()),
              HasSubstr("lost node1"));
  PollingRun several(11'000);
  several.result()
      .mutable_traffic_config()
      ->mutable_actions(0)
      ->mutable_iterations()
      ->set_max_parallel_iterations(16);
  EXPECT_THAT(base::Message(Calibrate(ResultsOf(run, several)).status()),
              HasSubstr("one RPC at a time"));
  EXPECT_THAT(base::Message(Calibrate(failed.Results()).status()),
              HasSubstr("no test whose workers sleep"));
}

TEST(CalibrateTest, TheDriverIsTheOneThatTheTestUsed) {
  MadeUpRun run;
  OptionsOf(run).clear_protocol_name();
  run.result().mutable_traffic_config()->set_default_protocol(
      "grpc_async_callback");
  const auto fabric = Calibrate(run.Results());
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  EXPECT_EQ(fabric->stacks(0).driver(), "grpc_async_callback");
}

TEST(CalibrateTest, ADriverIsMeasuredOnce) {
  MadeUpRun first;
  MadeUpRun second;
  EXPECT_THAT(base::Message(Calibrate(ResultsOf(first, second)).status()),
              HasSubstr("driver tcp has costs from an earlier test"));
}

TEST(CalibrateTest, StallsBetweenHostsAreSharedByBoth) {
  MadeUpRun run;
  run.Resources("node1").mutable_host()->set_hostname("there");
  const auto fabric = Calibrate(run.Results());
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  EXPECT_NEAR(fabric->host().stalls_per_second(), 0.5, 0.01);
}

TEST(CalibrateTest, LatenciesBelowTheCpuTimeMeanWorkAfterwards) {
  MadeUpRun run;
  SetLatency(run.result(), 0, 16'000);  // of 20 us CPU time
  const auto fabric = Calibrate(run.Results());
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  EXPECT_EQ(fabric->stacks(0).wakeup_ns(), 0);
  EXPECT_NEAR(fabric->stacks(0).client_send().after_ns(), 2000, 100);
  EXPECT_NEAR(fabric->stacks(0).server_send().after_ns(), 2000, 100);
}

TEST(CalibrateTest, BetweenHostsTheFastestRpcTellsTheDelay) {
  MadeUpRun run;
  run.Resources("node1").mutable_host()->set_hostname("there");
  SetLatency(run.result(), 0, 60'000);
  const auto fabric = Calibrate(run.Results());
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  EXPECT_NEAR(fabric->single_switch().host_link().delay_ns(), 10'000, 100);
  EXPECT_NEAR(fabric->stacks(0).wakeup_ns(), 0, 1);
}

// Between two hosts, with this latency of small RPCs.
MadeUpRun RunBetweenHosts(const std::string& driver, int64_t latency_ns) {
  MadeUpRun run;
  run.Resources("node1").mutable_host()->set_hostname("there");
  OptionsOf(run).set_protocol_name(driver);
  SetLatency(run.result(), 0, latency_ns);
  return run;
}

const StackCosts& CostsOf(const SimulatedFabric& fabric,
                          const std::string& driver) {
  return fabric.stacks(0).driver() == driver ? fabric.stacks(0)
                                             : fabric.stacks(1);
}

TEST(CalibrateTest, AllDriversShareOneNetworkInAnyOrder) {
  MadeUpRun tcp = RunBetweenHosts("tcp", 60'000);
  MadeUpRun slow = RunBetweenHosts("grpc_stream", 66'000);
  for (const bool slow_first : {false, true}) {
    const auto fabric =
        Calibrate(slow_first ? ResultsOf(slow, tcp) : ResultsOf(tcp, slow));
    ASSERT_TRUE(fabric.ok()) << fabric.status();
    EXPECT_NEAR(fabric->single_switch().host_link().delay_ns(), 10'000, 100);
    EXPECT_NEAR(CostsOf(*fabric, "tcp").wakeup_ns(), 0, 1);
    EXPECT_NEAR(CostsOf(*fabric, "grpc_stream").wakeup_ns(), 3000, 200);
  }
}

TEST(CalibrateTest, ADriverWhoseCpuTimeHidesTheNetworkDoesNotRemoveIt) {
  MadeUpRun tcp = RunBetweenHosts("tcp", 60'000);
  MadeUpRun grpc = RunBetweenHosts("grpc", 16'000);  // of 20 us CPU time
  for (const bool grpc_first : {false, true}) {
    const auto fabric =
        Calibrate(grpc_first ? ResultsOf(grpc, tcp) : ResultsOf(tcp, grpc));
    ASSERT_TRUE(fabric.ok()) << fabric.status();
    EXPECT_NEAR(fabric->single_switch().host_link().delay_ns(), 10'000, 100);
    EXPECT_NEAR(CostsOf(*fabric, "tcp").wakeup_ns(), 0, 1);
    EXPECT_EQ(CostsOf(*fabric, "grpc").wakeup_ns(), 0);
    EXPECT_GT(CostsOf(*fabric, "grpc").client_send().after_ns(), 2000);
  }
}

TEST(CalibrateTest, WithinAHostThereIsNoNetworkBesideThatOfOtherTests) {
  MadeUpRun between = RunBetweenHosts("tcp", 60'000);
  MadeUpRun within;
  OptionsOf(within).set_protocol_name("grpc");
  const auto fabric = Calibrate(ResultsOf(between, within));
  ASSERT_TRUE(fabric.ok()) << fabric.status();
  EXPECT_NEAR(CostsOf(*fabric, "grpc").wakeup_ns(), kWakeupNs, 200);
}

struct LackCase {
  const char* name;
  std::function<void(TestResult&)> take_away;
  const char* message;
};

class LackTest : public testing::TestWithParam<LackCase> {};

TEST_P(LackTest, IsAnErrorWithItsRemedy) {
  MadeUpRun run;
  GetParam().take_away(run.result());
  const auto fabric = Calibrate(run.Results());
  EXPECT_EQ(fabric.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::Message(fabric.status()),
              AllOf(HasSubstr(GetParam().message),
                    HasSubstr("run workloads/calibration.config")));
}

INSTANTIATE_TEST_SUITE_P(
    Lacks, LackTest,
    testing::Values(
        LackCase{"phase",
                 [](TestResult& result) {
                   result.mutable_traffic_config()
                       ->mutable_actions(3)
                       ->mutable_iterations()
                       ->set_max_parallel_iterations(1);
                 },
                 "small messages, several in flight"},
        LackCase{"open_loop",
                 [](TestResult& result) {
                   result.mutable_traffic_config()
                       ->mutable_actions(1)
                       ->mutable_iterations()
                       ->set_open_loop_interval_ns(1000);
                 },
                 "large requests"},
        LackCase{
            "workers",
            [](TestResult& result) {
              result.mutable_traffic_config()->clear_workers_per_instance();
            },
            "workers_per_instance"},
        LackCase{"sleeping",
                 [](TestResult& result) {
                   result.mutable_traffic_config()
                       ->mutable_protocol_driver_options(0)
                       ->clear_client_settings();
                 },
                 "spin_us"},
        LackCase{"polling_server",
                 [](TestResult& result) {
                   ProtocolDriverOptions& options =
                       *result.mutable_traffic_config()
                            ->mutable_protocol_driver_options(0);
                   options.mutable_client_settings(0)->set_int64_value(0);
                   *options.add_server_settings() = options.client_settings(0);
                   options.mutable_server_settings(0)->set_int64_value(50);
                 },
                 "no test whose workers sleep"},
        LackCase{"activities",
                 [](TestResult& result) {
                   result.mutable_traffic_config()->add_activity_configs();
                 },
                 "activities"},
        LackCase{
            "reverse",
            [](TestResult& result) {
              RpcSpec& rpc =
                  *result.mutable_traffic_config()->mutable_rpc_descriptions(2);
              rpc.set_client(0, "server");
              rpc.set_server("client");
            },
            "the same client and server"},
        LackCase{"node",
                 [](TestResult& result) {
                   result.mutable_placement()
                       ->mutable_service_endpoints()
                       ->at("server/0")
                       .set_node_alias("node0");
                 },
                 "shared node node0"},
        LackCase{"samples",
                 [](TestResult& result) {
                   result.mutable_resource_usage_logs()
                       ->mutable_node_resources()
                       ->at("node1")
                       .mutable_samples()
                       ->DeleteSubrange(2, 18);
                 },
                 "ran alone for"},
        LackCase{"failure",
                 [](TestResult& result) {
                   result.mutable_run_info()->set_failure("lost node1");
                 },
                 "lost node1"},
        LackCase{"simulation",
                 [](TestResult& result) { result.mutable_simulation(); },
                 "is of a simulation"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ReadCalibrationTest, ReadsResultsAndFabrics) {
  const std::string folder = testing::TempDir();
  const std::string result_path = folder + "calibration.pb.gz";
  ASSERT_TRUE(results::WriteResults(MadeUpRun().Results(), result_path,
                                    results::ResultEncoding::kBinary)
                  .ok());
  const auto of_result = ReadCalibration(result_path);
  ASSERT_TRUE(of_result.ok()) << of_result.status();

  const std::string fabric_path = folder + "calibration.textproto";
  std::ofstream(fabric_path) << of_result->DebugString();
  const auto of_fabric = ReadCalibration(fabric_path);
  ASSERT_TRUE(of_fabric.ok()) << of_fabric.status();
  EXPECT_EQ(of_fabric->DebugString(), of_result->DebugString());

  std::ofstream(fabric_path) << "host { cpus: 3 }";
  EXPECT_THAT(base::Message(ReadCalibration(fabric_path).status()),
              HasSubstr("no costs of any driver"));
  std::ofstream(fabric_path) << "no such thing";
  EXPECT_THAT(base::Message(ReadCalibration(fabric_path).status()),
              AllOf(HasSubstr(fabric_path), HasSubstr("neither")));
}

TEST(AddCalibrationTest, WhatTheFabricSaysIsKept) {
  const auto calibration = base::FromText<SimulatedFabric>(R"(
    host { cpus: 2 stalls_per_second: 3 }
    single_switch { host_link { delay_ns: 7 } }
    stacks { driver: "grpc" wakeup_ns: 1 }
    stacks { driver: "tcp" wakeup_ns: 2 }
    activities { activity: "ConsumeCpu" cpu_ns: 1 }
    activities { activity: "ConsumeCpu" name: "rank" cpu_ns: 2 })");
  auto fabric = base::FromText<SimulatedFabric>(R"(
    host { cpus: 8 }
    single_switch { host_link { gbps: 0.2 } }
    stacks { driver: "grpc" wakeup_ns: 3 }
    activities { activity: "ConsumeCpu" cpu_ns: 3 })");
  AddCalibration(calibration, fabric);
  ASSERT_EQ(fabric.stacks_size(), 2);
  EXPECT_EQ(fabric.stacks(0).wakeup_ns(), 3);
  EXPECT_EQ(fabric.stacks(1).wakeup_ns(), 2);
  ASSERT_EQ(fabric.activities_size(), 2);
  EXPECT_EQ(fabric.activities(0).cpu_ns(), 3);
  EXPECT_EQ(fabric.activities(1).cpu_ns(), 2);
  EXPECT_EQ(fabric.host().cpus(), 8);
  EXPECT_EQ(fabric.host().stalls_per_second(), 3);
  EXPECT_EQ(fabric.single_switch().host_link().gbps(), 0.2);
  EXPECT_EQ(fabric.single_switch().host_link().delay_ns(), 7);
}

TEST(AddCalibrationTest, LinksOfHostsHaveTheMeasuredDelayInEveryNetwork) {
  const auto calibration = base::FromText<SimulatedFabric>(
      "single_switch { host_link { delay_ns: 7 } }");
  const auto calibrated = [&](const std::string& text) {
    auto fabric = base::FromText<SimulatedFabric>(text);
    AddCalibration(calibration, fabric);
    return fabric;
  };
  EXPECT_EQ(calibrated("").single_switch().host_link().delay_ns(), 7);
  const SimulatedFabric leaf_spine = calibrated("leaf_spine {}");
  EXPECT_EQ(leaf_spine.leaf_spine().host_link().delay_ns(), 7);
  EXPECT_FALSE(leaf_spine.leaf_spine().has_spine_link());
  EXPECT_EQ(calibrated("leaf_spine { host_link { delay_ns: 3 } }")
                .leaf_spine()
                .host_link()
                .delay_ns(),
            3);
  const SimulatedFabric graph = calibrated(
      "graph { switches { name: 's' hosts: 'a' }"
      "        switches { name: 't' hosts: 'b' host_link { delay_ns: 3 } } }");
  EXPECT_EQ(graph.graph().switches(0).host_link().delay_ns(), 7);
  EXPECT_EQ(graph.graph().switches(1).host_link().delay_ns(), 3);
}

TEST(AddCalibrationTest, WithoutAMeasuredDelayNoneIsSet) {
  auto fabric = base::FromText<SimulatedFabric>("leaf_spine {}");
  AddCalibration(base::FromText<SimulatedFabric>("host { cpus: 2 }"), fabric);
  EXPECT_FALSE(fabric.leaf_spine().has_host_link());
}

}  // namespace
}  // namespace distbench::simulation
