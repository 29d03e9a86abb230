// From texts to a checked fabric: its rules and defaults, and Slurm's topology
// files.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_READ_FABRIC_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_READ_FABRIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/problems/problem.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// Enough for any cluster, and few enough for the model to fit into memory.
inline constexpr int kMaxSimulatedHosts = 1'000'000;
inline constexpr int kMaxSimulatedSwitches = 10'000;  // of a graph
inline constexpr int64_t kMaxSimulatedLinks = 10'000'000;

// Puts the defaults into all fields that are missing, except for those of
// stacks and activities, which are zero or not known where they are missing.
void FillInDefaults(SimulatedFabric& fabric);

// Adds what is wrong with a fabric whose defaults are filled in. The switches
// and links of a graph are checked where it is laid out (layouts.h).
void CheckFabric(const SimulatedFabric& fabric, config::Problems& problems);

void CheckLink(const config::Path& path, const SimulatedLink& link,
               config::Problems& problems);

// Slurm's topology.conf for its plugin topology/tree (topology.conf(5)):
//
//   SwitchName=leaf0 Nodes=node[0-31]   # hosts
//   SwitchName=top Switches=leaf[0-3] LinkSpeed=100
//
// Names of parameters in any case, comments, and lines that a backslash
// continues, as in all of Slurm's files.

struct SlurmTopology {
  SimulatedGraph graph;

  // What the file does not say, or says in vain, a sentence each.
  std::vector<std::string> notes;
};

// The file has no rates: hosts have default links, and the link of a switch to
// the one above it has the rate of all hosts below together, as
// the parallel links of a fat tree would have that is not oversubscribed.
// INVALID_ARGUMENT lists all problems, as "source:line: what is wrong; what
// would be right".
absl::StatusOr<SlurmTopology> ParseSlurmTopology(absl::string_view text,
                                                 absl::string_view source);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_MODEL_READ_FABRIC_H_
