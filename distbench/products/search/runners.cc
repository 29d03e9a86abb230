// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/runners.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/hosts.h"

namespace distbench::search {
namespace {

constexpr int kCpusPerInstance = 100;

absl::StatusOr<TestResult> RunTest(client::TestClient& client,
                                   const DistributedSystemDescription& test,
                                   const ProgressWatcher& watch) {
  RunTestsRequest request;
  *request.mutable_test_sequence()->add_tests() = test;
  request.set_cancel_with_call(true);
  request.set_is_step(true);
  TestSequenceResults results;
  bool is_wanted = true;
  const absl::Status status = client.RunTests(
      request,
      [&](const RunTestsEvent& event) {
        if (!is_wanted || watch(event)) return;
        is_wanted = false;
        client.AbandonRun();
      },
      results);
  if (!status.ok()) return status;
  if (results.test_results().empty()) {
    return absl::InternalError("the test sequencer sent no result");
  }
  return std::move(*results.mutable_test_results(0));
}

}  // namespace

TestRunner RunOnSequencer(client::TestClient& client) {
  return [&client](const DistributedSystemDescription& test,
                   const ProgressWatcher& watch) {
    return RunTest(client, test, watch);
  };
}

absl::StatusOr<int> InstanceCountFor(const GetStatusResponse& status) {
  if (status.nodes().empty()) {
    return absl::FailedPreconditionError(
        "the test sequencer has no nodes, so there is no telling how many "
        "instances they can carry");
  }
  // Several nodes on one host share its CPUs.
  base::HostNumbers hosts;
  std::map<int, int> cpus_by_host;
  for (const NodeStatus& status_of_node : status.nodes()) {
    const NodeRegistration& node = status_of_node.registration();
    int& cpus = cpus_by_host[hosts.Of(node.hostname(), node.boot_id())];
    cpus = std::max(cpus, node.cpu_count());
  }
  int cpu_count = 0;
  for (const auto& [host, cpus] : cpus_by_host) cpu_count += cpus;
  return std::max(1, (cpu_count + kCpusPerInstance - 1) / kCpusPerInstance);
}

TestRunner RunOnSimulation(cli::SimulatedHosts hosts,
                           const std::atomic<bool>& is_cancelled,
                           int runs_before) {
  return [hosts = std::move(hosts), &is_cancelled, runs = runs_before](
             DistributedSystemDescription test,
             const ProgressWatcher& /*watch*/) mutable
         -> absl::StatusOr<TestResult> {
    const uint64_t first_seed = test.has_random_seed() ? test.random_seed() : 1;
    test.set_random_seed(first_seed + runs++);
    absl::StatusOr<TestResult> result =
        hosts.run(test, absl::ToUnixNanos(absl::Now()), is_cancelled);
    if (is_cancelled) return absl::CancelledError("the search was cancelled");
    return result;
  };
}

}  // namespace distbench::search
