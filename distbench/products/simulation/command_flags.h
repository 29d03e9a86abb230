// The flags of all commands that simulate: on what tests run.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_COMMAND_FLAGS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_COMMAND_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"

namespace CLI {
class App;
}

namespace distbench::simulation {

struct SimulationFlags {
  std::string fabric;
  std::string calibrate_from;
  std::string keep_fabric;
  int hosts = 0;    // 0: as many as the test needs
  int threads = 0;  // 0: those of this machine, up to a limit
};

// Adds --fabric, --calibrate_from, --keep_fabric, --hosts and --threads, and
// returns their names. `flags` must outlive the parsing.
std::vector<std::string> AddSimulationFlags(CLI::App& command,
                                            SimulationFlags& flags);

// Reads the files that the flags name, and writes the fabric if it is to be
// kept. Errors name the file.
absl::StatusOr<ClusterRunOptions> ReadSimulationFlags(
    const SimulationFlags& flags);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_COMMAND_FLAGS_H_
