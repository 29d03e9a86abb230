// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs tests on a simulated cluster: with the placement and the engines of real
// tests, on simulated hosts and networks.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_SIMULATED_CLUSTER_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_SIMULATED_CLUSTER_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/results.pb.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::simulation {

struct ClusterRunOptions {
  SimulatedFabric fabric;

  // 0: as many as the test needs.
  int host_count = 0;

  int threads = 1;

  // When the test seems to run, in Unix nanoseconds; rounded down to whole
  // seconds, at which the intervals of series begin. So time stamps are all
  // that depends on it, as long as intervals have one second.
  int64_t start_unix_ns = 1'600'000'000'000'000'000;

  // For what all instances record, samples included. Beyond it, pairs of
  // instances share histograms, series are coarser, and samples are chosen, as
  // with a test's own budgets (recording_memory_bytes, sample_memory_bytes).
  int64_t memory_bytes = int64_t{512} << 20;

  // Like a test's end by the user, at the next pause between events: the
  // measurements so far are kept. May be set by any thread. Null: never.
  const std::atomic<bool>* is_cancelled = nullptr;

  // Called about once per second of real time, on the calling thread, while no
  // event runs. simulated_ns: since the start of the traffic.
  struct Progress {
    int64_t simulated_ns = 0;
    int64_t succeeded = 0;
    int64_t failed = 0;
    uint64_t events = 0;
  };
  std::function<void(const Progress&)> on_progress = [](const Progress&) {};
};

// Whether the test can be simulated: what RunSimulatedTest() would find wrong
// before the traffic.
absl::Status CheckSimulatedTest(const DistributedSystemDescription& test,
                                const ClusterRunOptions& options);

// Runs a canonical test (config/validate) and returns its result, as a
// sequencer returns that of a real test: with placement, logs, summary and
// `simulation`. A test without a random_seed gets 1. Errors: what the fabric or
// the test lacks (INVALID_ARGUMENT, FAILED_PRECONDITION), each with a remedy.
// What goes wrong during the traffic is in the result instead, as with real
// tests.
absl::StatusOr<TestResult> RunSimulatedTest(
    const DistributedSystemDescription& test, const ClusterRunOptions& options);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_SIMULATED_CLUSTER_H_
