#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "distbench/base/files.h"
#include "distbench/config/reading/parse_text.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/model/slurm_topology.h"
#include "glog/logging.h"

namespace distbench::simulation {
namespace {

absl::StatusOr<SimulatedFabric> FabricOfSlurm(const std::string& text,
                                              const std::string& path) {
  absl::StatusOr<SlurmTopology> topology = ParseSlurmTopology(text, path);
  if (!topology.ok()) return topology.status();
  for (const std::string& note : topology->notes) {
    LOG(WARNING) << path << ": " << note;
  }
  SimulatedFabric fabric;
  *fabric.mutable_graph() = std::move(topology->graph);
  return fabric;
}

}  // namespace

absl::StatusOr<SimulatedFabric> ReadFabric(const std::string& path) {
  const absl::StatusOr<std::string> text = base::ReadFile(path);
  if (!text.ok()) return text.status();
  if (absl::EndsWith(path, ".conf")) return FabricOfSlurm(*text, path);
  SimulatedFabric fabric;
  const absl::Status parsed = config::ParseText(*text, path, fabric);
  if (!parsed.ok()) return parsed;
  return fabric;
}

}  // namespace distbench::simulation
