// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How many RPCs are simulated per second of real time: a closed loop of pairs
// of hosts, and a clique, on one thread and on two.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "benchmark/benchmark.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"

namespace distbench::simulation {
namespace {

using google::protobuf::TextFormat;

DistributedSystemDescription Checked(const std::string& text) {
  TestSequence sequence;
  CHECK(TextFormat::ParseFromString(text, sequence.add_tests())) << text;
  const absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(sequence);
  CHECK(checked.ok()) << checked.status();
  return checked->tests(0);
}

// Each client has ten RPCs in flight to the server of its number.
std::string Pairs(int64_t count) {
  return absl::Substitute(R"(
    services { name: "client" count: $0 }
    services { name: "server" count: $0 }
    workers_per_instance: 1
    rpc_descriptions { name: "rpc" client: "client" server: "server"
                       fanout_filter: "same_x" }
    action_lists { name: "client" action_names: "loop"
                   max_rpc_samples: 10 }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: $1
                           max_parallel_iterations: 10 } })",
                          count, 2'000'000 / count);
}

// Everybody calls everybody, all at the same time.
std::string Clique(int64_t count) {
  return absl::Substitute(R"(
    services { name: "node" count: $0 }
    workers_per_instance: 1
    rpc_descriptions { name: "rpc" client: "node" server: "node"
                       fanout_filter: "all" }
    action_lists { name: "node" action_names: "loop" max_rpc_samples: 10 }
    action_lists { name: "rpc" }
    actions { name: "loop" rpc_name: "rpc"
              iterations { max_iteration_count: $1 open_loop_interval_ns: 2000000
                open_loop_interval_distribution: "sync_burst" } })",
                          count, 4'000'000 / (count * count));
}

void Simulate(benchmark::State& state, const std::string& text) {
  const DistributedSystemDescription test = Checked(text);
  ClusterRunOptions options;
  options.threads = static_cast<int>(state.range(1));
  int64_t rpcs = 0;
  uint64_t events = 0;
  for (auto _ : state) {
    const absl::StatusOr<TestResult> result = RunSimulatedTest(test, options);
    CHECK(result.ok()) << result.status();
    CHECK(!result->run_info().has_failure()) << result->run_info().failure();
    events += result->simulation().event_count();
    for (const auto& [client, log] : result->service_logs().instance_logs()) {
      for (const auto& [server, peer] : log.peer_logs()) {
        for (const auto& [rpc, rpc_log] : peer.rpc_logs()) {
          rpcs += rpc_log.statistics().succeeded_count();
        }
      }
    }
  }
  state.counters["rpcs"] = benchmark::Counter(static_cast<double>(rpcs),
                                              benchmark::Counter::kIsRate);
  state.counters["events_per_rpc"] =
      static_cast<double>(events) / static_cast<double>(rpcs);
}

void BM_Pairs(benchmark::State& state) {
  Simulate(state, Pairs(state.range(0)));
}
void BM_Clique(benchmark::State& state) {
  Simulate(state, Clique(state.range(0)));
}

// Number of pairs or hosts, and of threads.
#define DISTBENCH_SIZES(first, second)   \
  ArgsProduct({{first, second}, {1, 2}}) \
      ->UseRealTime()                    \
      ->Unit(benchmark::kMillisecond)    \
      ->Iterations(1)
BENCHMARK(BM_Pairs)->DISTBENCH_SIZES(10, 1000);
BENCHMARK(BM_Clique)->DISTBENCH_SIZES(32, 300);

}  // namespace
}  // namespace distbench::simulation

BENCHMARK_MAIN();
