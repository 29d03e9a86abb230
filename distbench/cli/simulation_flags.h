// The flags of all commands that simulate: on what tests run.

#ifndef DISTBENCH_CLI_SIMULATION_FLAGS_H_
#define DISTBENCH_CLI_SIMULATION_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "distbench/simulation/cluster/simulated_cluster.h"

namespace CLI {
class App;
}

namespace distbench {

struct SimulationFlags {
  std::string fabric;
  std::string calibrate_from;
  int hosts = 0;    // 0: as many as the test needs
  int threads = 0;  // 0: those of this machine, up to a limit
};

// Adds --fabric, --calibrate_from, --hosts and --threads. `flags` must outlive
// the parsing.
void AddSimulationFlags(CLI::App& command, SimulationFlags& flags);

// Reads the files that the flags name. Errors name the file.
absl::StatusOr<ClusterRunOptions> ReadSimulationFlags(
    const SimulationFlags& flags);

}  // namespace distbench

#endif  // DISTBENCH_CLI_SIMULATION_FLAGS_H_
