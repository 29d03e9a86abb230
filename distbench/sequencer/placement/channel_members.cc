#include "distbench/sequencer/placement/channel_members.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/syntax/multi_server_channels.h"

namespace distbench::sequencer {
namespace {

// The number of instances that an error lists.
constexpr size_t kMaxListed = 10;

using NodeOfInstance = std::map<std::string, const PlacementNode*>;

NodeOfInstance NodesOf(const std::vector<PlacementNode>& nodes,
                       const Placement& placement) {
  NodeOfInstance node_of;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& instance : placement[i]) {
      node_of[instance] = &nodes[i];
    }
  }
  return node_of;
}

// The attributes of the service's instances, by number.
std::vector<config::Attributes> AttributesOf(const ServiceSpec& service,
                                             const NodeOfInstance& node_of) {
  const config::Grid grid = config::GridOf(service);
  std::vector<config::Attributes> instances;
  for (int number = 0; number < grid.Count(); ++number) {
    config::Attributes attributes = config::InstanceAttributes(grid, number);
    const PlacementNode& node =
        *node_of.at(config::InstanceName(service.name(), grid, number));
    attributes.insert(node.attributes.begin(), node.attributes.end());
    instances.push_back(std::move(attributes));
  }
  return instances;
}

absl::Status NoMembers(const ServiceSpec& service,
                       const MultiServerChannel& channel,
                       const std::vector<config::Attributes>& instances) {
  std::vector<std::string> reasons;
  for (size_t i = 0; i < instances.size() && i < kMaxListed; ++i) {
    reasons.push_back(absl::StrCat(
        config::InstanceName(service.name(), config::GridOf(service),
                             static_cast<int>(i)),
        ": ",
        config::ExplainMismatch(channel.constraints(), instances[i])
            .value_or("")));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "services[\"", service.name(), "\"].multi_server_channels[\"",
      channel.name(), "\"] has no members: ", absl::StrJoin(reasons, "; "),
      instances.size() > kMaxListed
          ? absl::StrCat("; and ", instances.size() - kMaxListed, " more")
          : ""));
}

}  // namespace

absl::Status ResolveChannelMembers(const std::vector<PlacementNode>& nodes,
                                   const Placement& placement,
                                   DistributedSystemDescription& test) {
  const NodeOfInstance node_of = NodesOf(nodes, placement);
  for (ServiceSpec& service : *test.mutable_services()) {
    for (MultiServerChannel& channel :
         *service.mutable_multi_server_channels()) {
      if (!config::DependsOnPlacement(channel, config::GridOf(service)))
        continue;
      const std::vector<config::Attributes> instances =
          AttributesOf(service, node_of);
      const std::vector<int> members = config::MembersOf(channel, instances);
      if (members.empty()) return NoMembers(service, channel, instances);
      channel.clear_constraints();
      *channel.mutable_selected_instances() = {members.begin(), members.end()};
    }
  }
  return absl::OkStatus();
}

}  // namespace distbench::sequencer
