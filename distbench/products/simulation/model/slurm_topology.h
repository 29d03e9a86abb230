// Slurm's topology.conf for its plugin topology/tree (topology.conf(5)):
//
//   SwitchName=leaf0 Nodes=node[0-31]   # hosts
//   SwitchName=top Switches=leaf[0-3] LinkSpeed=100
//
// Names of parameters in any case, comments, and lines that a backslash
// continues, as in all of Slurm's files.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_SLURM_TOPOLOGY_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_SLURM_TOPOLOGY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

struct SlurmTopology {
  SimulatedGraph graph;

  // What the file does not say, or says in vain, a sentence each.
  std::vector<std::string> notes;
};

// The file has no rates: hosts have default links, and the link of a switch to
// the one above it has the rate and the queue of all hosts below together, as
// the parallel links of a fat tree would have that is not oversubscribed.
// INVALID_ARGUMENT lists all problems, as "source:line: what is wrong; what
// would be right".
absl::StatusOr<SlurmTopology> ParseSlurmTopology(absl::string_view text,
                                                 absl::string_view source);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_MODEL_SLURM_TOPOLOGY_H_
