// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Simulated hosts, on which a command can run tests instead of on the nodes of
// a sequencer. A product that simulates adds a base::Plugin<TestSimulation>, of
// which there is at most one.

#ifndef DISTBENCH_CLI_TEST_SIMULATION_H_
#define DISTBENCH_CLI_TEST_SIMULATION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "proto/results.pb.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::cli {

struct SimulatedHosts {
  SimulatedFabric fabric;
  int count = 0;  // 0: as many as the test needs

  // Runs a canonical test as if it began at this Unix time, and returns its
  // result as a sequencer returns that of a real test. Ends early, with what
  // was measured, once any thread has set `is_cancelled`.
  std::function<absl::StatusOr<TestResult>(
      const DistributedSystemDescription& test, int64_t start_unix_ns,
      const std::atomic<bool>& is_cancelled)>
      run;
};

// The flags of a command that describe simulated hosts.
class SimulationOptions {
 public:
  virtual ~SimulationOptions() = default;

  // Adds the flags, whose values this object takes. Returns their names.
  virtual std::vector<std::string> AddFlags(CLI::App& command) = 0;

  // Reads the files that the flags name. Errors name the file.
  virtual absl::StatusOr<SimulatedHosts> Read() const = 0;
};

struct TestSimulation {
  std::unique_ptr<SimulationOptions> (*make_options)();
};

// Null if this program cannot simulate.
inline const TestSimulation* FindTestSimulation() {
  const auto& all = base::Plugins<TestSimulation>::All();
  return all.empty() ? nullptr : all.begin()->second;
}

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_TEST_SIMULATION_H_
