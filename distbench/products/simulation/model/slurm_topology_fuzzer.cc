// Fuzzes the reader of Slurm's topology files, and the layout of what it reads.
// scripts/fuzz.sh builds it with clang.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/model/read_fabric.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto topology =
      distbench::simulation::ParseSlurmTopology(text, "topology.conf");
  if (!topology.ok()) return 0;
  distbench::SimulatedFabric fabric;
  *fabric.mutable_graph() = topology->graph;
  const auto model =
      distbench::simulation::MakeClusterModel(fabric, 2, /*seed=*/1);
  std::vector<int> links;
  if (model.ok()) model->paths->Find(0, 1, /*connection=*/1, links);
  return 0;
}
