#include "distbench/products/protection/subject_workers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "distbench/products/protection/experiment/subject.h"

namespace distbench::protection {
namespace {

// Nodes that share CPUs: those of a host that may use the same ones.
using CpuGroup = std::pair<std::string, std::string>;

CpuGroup GroupOf(const NodeRegistration& registration) {
  return {registration.hostname(), registration.topology().allowed_cpus()};
}

}  // namespace

int WorkersOfSubject(const DistributedSystemDescription& test,
                     const GetStatusResponse& status) {
  std::map<std::string, int> instances_on;  // by node
  for (const auto& [instance, node] : NodesOfInstances(test)) {
    ++instances_on[node];
  }
  std::map<CpuGroup, int> cpus;
  std::map<CpuGroup, int> instances;
  for (const NodeStatus& node : status.nodes()) {
    const CpuGroup group = GroupOf(node.registration());
    cpus[group] = std::max(cpus[group], node.registration().cpu_count());
    const auto found = instances_on.find(node.config().node_alias());
    if (found != instances_on.end()) instances[group] += found->second;
  }
  int fewest = std::numeric_limits<int>::max();
  for (const auto& [group, count] : instances) {
    fewest = std::min(fewest, cpus[group] / count);
  }
  // Without nodes, the test will not run.
  return instances.empty() ? 1 : std::max(1, fewest);
}

}  // namespace distbench::protection
