#include "distbench/sequencer/node_shares.h"

#include <algorithm>
#include <map>
#include <string>

namespace distbench {
namespace {

struct Host {
  int cpu_count = 1;
  int instance_count = 0;
};

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
    placement_node.attributes["node_alias"] = node->alias();
  }
  return placement_nodes;
}

std::vector<NodeShare> MakeNodeShares(
    const std::vector<std::shared_ptr<NodeHandle>>& nodes,
    const Placement& placement) {
  std::map<std::string, Host> hosts;
  for (int i = 0; i < nodes.size(); ++i) {
    const NodeRegistration& registration = nodes[i]->registration();
    Host& host = hosts[registration.hostname()];
    host.cpu_count = std::max(host.cpu_count, registration.cpu_count());
    host.instance_count += placement[i].size();
  }
  std::vector<NodeShare> shares;
  for (int i = 0; i < nodes.size(); ++i) {
    if (placement[i].empty()) continue;
    const Host& host = hosts[nodes[i]->registration().hostname()];
    shares.push_back({.node = nodes[i],
                      .instances = placement[i],
                      .workers_per_instance =
                          std::max(1, host.cpu_count / host.instance_count)});
  }
  return shares;
}

}  // namespace distbench
