#include "distbench/sequencer/execution/node_shares.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/index_list.h"
#include "distbench/numa/topology.h"

namespace distbench::sequencer {
namespace {

// Nodes that share CPUs: nodes of a host that may use the same ones.
struct CpuGroup {
  int cpu_count = 1;
  int instance_count = 0;
};
using CpuGroupKey = std::pair<std::string, std::string>;

CpuGroupKey GroupOf(const NodeRegistration& registration) {
  return {registration.hostname(), registration.topology().allowed_cpus()};
}

// Adds what distbench knows of a node; the node's own attributes win.
void AddKnownAttributes(const NodeRegistration& registration,
                        config::Attributes& attributes) {
  const HostTopology& topology = registration.topology();
  attributes.try_emplace("hostname", registration.hostname());
  attributes.try_emplace("cpu_count", absl::StrCat(registration.cpu_count()));
  if (topology.numa_nodes().empty()) return;
  attributes.try_emplace("numa_node_count",
                         absl::StrCat(topology.numa_nodes_size()));
  const base::IndexSet nodes =
      numa::NodesOfCpus(topology, numa::IndicesOf(topology.allowed_cpus()));
  if (nodes.size() == 1) {
    attributes.try_emplace("numa_node", absl::StrCat(*nodes.begin()));
  }
}

}  // namespace

std::vector<PlacementNode> PlacementNodes(
    const std::vector<std::shared_ptr<NodeHandle>>& nodes) {
  std::vector<PlacementNode> placement_nodes;
  for (const auto& node : nodes) {
    PlacementNode& placement_node = placement_nodes.emplace_back();
    placement_node.alias = node->alias();
    for (const Attribute& attribute : node->registration().attributes()) {
      placement_node.attributes[attribute.name()] = attribute.value();
    }
    AddKnownAttributes(node->registration(), placement_node.attributes);
    placement_node.attributes["node_alias"] = node->alias();
  }
  return placement_nodes;
}

std::vector<NodeShare> MakeNodeShares(
    const std::vector<std::shared_ptr<NodeHandle>>& nodes,
    const Placement& placement) {
  std::map<CpuGroupKey, CpuGroup> groups;
  for (int i = 0; i < nodes.size(); ++i) {
    const NodeRegistration& registration = nodes[i]->registration();
    CpuGroup& group = groups[GroupOf(registration)];
    group.cpu_count = std::max(group.cpu_count, registration.cpu_count());
    group.instance_count += placement[i].size();
  }
  std::vector<NodeShare> shares;
  for (int i = 0; i < nodes.size(); ++i) {
    if (placement[i].empty()) continue;
    const CpuGroup& group = groups[GroupOf(nodes[i]->registration())];
    shares.push_back({.node = nodes[i],
                      .instances = placement[i],
                      .workers_per_instance =
                          std::max(1, group.cpu_count / group.instance_count)});
  }
  return shares;
}

}  // namespace distbench::sequencer
