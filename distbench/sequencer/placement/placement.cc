// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/placement/placement.h"

#include <algorithm>
#include <compare>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/text_table.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/instance_names.h"

namespace distbench::sequencer {
namespace {

// An error lists this many nodes, instances and problems, and only counts the
// others.
constexpr int kMaxListed = 10;

constexpr int kNowhere = -1;

std::string ListSome(const std::vector<std::string>& items,
                     absl::string_view separator) {
  return base::JoinSome(items, kMaxListed, separator,
                        absl::StrCat(separator, "and "));
}

// What an instance needs of its node. Instances of a service need the same.
struct Needs {
  std::vector<const ConstraintList*> constraints;
  std::string engine;  // empty: the node's own program

  bool empty() const { return constraints.empty() && engine.empty(); }
  // Not auto: libc++ before 17 has no <=> of vectors.
  std::strong_ordering operator<=>(const Needs&) const = default;
};

bool HasEngine(const PlacementNode& node, const std::string& engine) {
  return engine.empty() || node.engines.contains(engine);
}

bool Satisfies(const PlacementNode& node, const Needs& needs) {
  return HasEngine(node, needs.engine) &&
         std::all_of(needs.constraints.begin(), needs.constraints.end(),
                     [&](const ConstraintList* list) {
                       return config::Matches(*list, node.attributes);
                     });
}

// Explains the first need that the node does not satisfy.
std::optional<std::string> WhyNot(const Needs& needs,
                                  const PlacementNode& node) {
  for (const ConstraintList* list : needs.constraints) {
    if (auto reason = config::ExplainMismatch(*list, node.attributes))
      return reason;
  }
  if (HasEngine(node, needs.engine)) return std::nullopt;
  return absl::StrCat(
      "has ",
      node.engines.empty()
          ? "no engine but its own program"
          : absl::StrCat("the engines ", absl::StrJoin(node.engines, ", ")),
      ", not \"", needs.engine, "\" (node_manager --engine=", needs.engine,
      "=PATH)");
}

class Placer {
 public:
  Placer(const DistributedSystemDescription& test,
         const std::vector<PlacementNode>& nodes)
      : test_(test), nodes_(nodes), bundled_(nodes.size()) {
    const config::TestNames names(test);
    for (const ServiceSpec& service : test.services()) {
      const std::string engine =
          config::EngineOf(config::DriversOf(test, names, service));
      for (std::string& name : config::InstanceNames(service)) {
        index_.emplace(name, instances_.size());
        Needs needs = {.constraints = config::ConstraintsOf(test, name),
                       .engine = engine};
        instances_.push_back(
            {.name = std::move(name), .needs = std::move(needs)});
      }
    }
    occupant_.assign(nodes.size(), kNowhere);
    for (size_t i = 0; i < nodes.size(); ++i) {
      node_index_.emplace(nodes[i].alias, static_cast<int>(i));
    }
  }

  absl::StatusOr<Placement> Place() {
    absl::Status status = PlaceBundles();
    if (status.ok()) status = CheckNodeCount();
    if (status.ok()) status = PlaceConstrained();
    if (!status.ok()) return status;
    PlaceRest();
    Placement placement(nodes_.size());
    for (const Instance& instance : instances_) {
      placement[instance.node].push_back(instance.name);
    }
    return placement;
  }

 private:
  struct Instance {
    std::string name;
    Needs needs;
    int node = kNowhere;
  };

  absl::Status PlaceBundles();
  absl::Status PlaceBundle(const std::string& alias,
                           const ServiceBundle& bundle);
  absl::Status CheckNodeCount() const;
  absl::Status PlaceConstrained();
  void PlaceRest();

  // Finds a node for the instance, possibly by moving other instances, as few
  // as possible: an augmenting path of a bipartite matching, breadth first.
  bool Assign(int instance);

  // Gives an idle node to its taker, the node that this one had to its own
  // taker, and so on.
  void Move(const std::vector<int>& taker_of, int node);

  // The nodes that satisfy the needs, which thousands of instances may share.
  const std::vector<int>& Suitable(const Needs& needs);
  absl::Status ExplainFailure(const Instance& instance) const;

  bool IsIdle(int node) const {
    return !bundled_[node] && occupant_[node] == kNowhere;
  }

  const DistributedSystemDescription& test_;
  const std::vector<PlacementNode>& nodes_;
  std::vector<Instance> instances_;  // in the order of the config
  absl::flat_hash_map<std::string, int> index_;
  absl::flat_hash_map<absl::string_view, int> node_index_;  // by alias
  std::vector<bool> bundled_;  // by node: part of a bundle
  std::vector<int> occupant_;  // by node: its only instance

  // By needs, of which the test has few; see Suitable(). References stay valid
  // while more are added.
  std::map<Needs, std::vector<int>> suitable_;
};

absl::Status Placer::PlaceBundles() {
  // In a fixed order, so that the same config always gives the same error.
  const std::map<std::string, ServiceBundle> bundles(
      test_.node_service_bundles().begin(), test_.node_service_bundles().end());
  for (const auto& [alias, bundle] : bundles) {
    if (absl::Status status = PlaceBundle(alias, bundle); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status Placer::PlaceBundle(const std::string& alias,
                                 const ServiceBundle& bundle) {
  const std::string path =
      absl::StrCat("node_service_bundles[\"", alias, "\"]");
  const auto node = node_index_.find(alias);
  if (node == node_index_.end()) {
    std::vector<std::string> aliases;
    for (const PlacementNode& n : nodes_) aliases.push_back(n.alias);
    return absl::NotFoundError(absl::StrCat(
        path, ": no node \"", alias, "\" is registered; ",
        aliases.empty() ? "there are none" : "there are ",
        ListSome(aliases, ", "), "; start a node manager as ", alias));
  }
  const int node_index = node->second;
  bundled_[node_index] = bundle.services_size() > 0;
  for (const std::string& name : bundle.services()) {
    const auto it = index_.find(name);
    if (it == index_.end()) {
      return absl::NotFoundError(
          absl::StrCat(path, ": the test has no instance \"", name, "\""));
    }
    Instance& instance = instances_[it->second];
    if (instance.node != kNowhere) {
      return absl::NotFoundError(
          absl::StrCat(path, ": ", name, " is in the bundle of ",
                       nodes_[instance.node].alias, " already"));
    }
    if (auto reason = WhyNot(instance.needs, nodes_[node_index])) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": ", alias, " is not suitable for ", name, ": ", *reason));
    }
    instance.node = node_index;
  }
  return absl::OkStatus();
}

absl::Status Placer::CheckNodeCount() const {
  const int bundles = std::count(bundled_.begin(), bundled_.end(), true);
  const int needed =
      bundles +
      std::count_if(instances_.begin(), instances_.end(),
                    [](const Instance& i) { return i.node == kNowhere; });
  const int registered = nodes_.size();
  if (needed <= registered) return absl::OkStatus();
  std::vector<std::string> aliases;
  for (const PlacementNode& node : nodes_) aliases.push_back(node.alias);
  return absl::FailedPreconditionError(absl::StrCat(
      "the test needs ", needed, needed == 1 ? " node" : " nodes", " but ",
      registered == 0 ? "none" : absl::StrCat(registered),
      registered == 1 ? " is registered" : " are registered",
      registered == 0 ? "" : absl::StrCat(" (", ListSome(aliases, ", "), ")"),
      "; start ", needed - registered,
      " more or bundle services with node_service_bundles"));
}

absl::Status Placer::PlaceConstrained() {
  for (int i = 0; i < instances_.size(); ++i) {
    Instance& instance = instances_[i];
    if (instance.node != kNowhere) continue;
    if (instance.needs.empty()) continue;
    if (!Assign(i)) return ExplainFailure(instance);
  }
  return absl::OkStatus();
}

bool Placer::Assign(int instance) {
  // By node: the instance that would get it.
  std::vector<int> taker_of(nodes_.size(), kNowhere);
  std::deque<int> needy = {instance};
  for (; !needy.empty(); needy.pop_front()) {
    for (const int node : Suitable(instances_[needy.front()].needs)) {
      if (bundled_[node] || taker_of[node] != kNowhere) continue;
      taker_of[node] = needy.front();
      if (IsIdle(node)) {
        Move(taker_of, node);
        return true;
      }
      needy.push_back(occupant_[node]);
    }
  }
  return false;
}

void Placer::Move(const std::vector<int>& taker_of, int node) {
  while (node != kNowhere) {
    occupant_[node] = taker_of[node];
    node = std::exchange(instances_[taker_of[node]].node, node);
  }
}

const std::vector<int>& Placer::Suitable(const Needs& needs) {
  const auto [it, is_new] = suitable_.try_emplace(needs);
  if (!is_new) return it->second;
  for (int node = 0; node < nodes_.size(); ++node) {
    if (Satisfies(nodes_[node], needs)) it->second.push_back(node);
  }
  return it->second;
}

absl::Status Placer::ExplainFailure(const Instance& instance) const {
  std::vector<std::string> reasons;
  for (int node = 0; node < nodes_.size(); ++node) {
    std::string reason;
    if (bundled_[node]) {
      reason = "has a bundle in node_service_bundles";
    } else if (auto mismatch = WhyNot(instance.needs, nodes_[node])) {
      reason = *mismatch;
    } else {
      reason = absl::StrCat("is needed for ", instances_[occupant_[node]].name);
    }
    reasons.push_back(absl::StrCat(nodes_[node].alias, ": ", reason));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      instance.name, " cannot be placed: no node is left that is suitable: ",
      ListSome(reasons, "; ")));
}

void Placer::PlaceRest() {
  int node = 0;
  for (int i = 0; i < instances_.size(); ++i) {
    if (instances_[i].node != kNowhere) continue;
    // CheckNodeCount() made sure that there is one.
    while (!IsIdle(node)) ++node;
    occupant_[node] = i;
    instances_[i].node = node;
  }
}

absl::Status CheckReach(const DistributedSystemDescription& test,
                        const std::vector<PlacementNode>& nodes,
                        const Placement& placement) {
  const std::set<std::string> services = config::ServicesInOneProcess(test);
  const std::string* first_instance = nullptr;
  size_t first_node = 0;
  for (size_t node = 0; node < placement.size(); ++node) {
    for (const std::string& instance : placement[node]) {
      if (!services.contains(config::ServiceOf(instance))) continue;
      if (first_instance == nullptr) {
        first_instance = &instance;
        first_node = node;
      }
      if (node == first_node) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          *first_instance, " is on ", nodes[first_node].alias, " and ",
          instance, " on ", nodes[node].alias,
          ", but they use the protocol loopback, which stays within one "
          "process; put both on one node (node_service_bundles), or use "
          "another protocol"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Placement> PlaceInstances(
    const DistributedSystemDescription& test,
    const std::vector<PlacementNode>& nodes) {
  absl::StatusOr<Placement> placement = Placer(test, nodes).Place();
  if (!placement.ok()) return placement;
  absl::Status status = CheckReach(test, nodes, *placement);
  if (!status.ok()) return status;
  return placement;
}

namespace {

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
  for (size_t i = 0; i < instances.size(); ++i) {
    reasons.push_back(absl::StrCat(
        config::InstanceName(service.name(), config::GridOf(service),
                             static_cast<int>(i)),
        ": ",
        config::ExplainMismatch(channel.constraints(), instances[i])
            .value_or("")));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "services[\"", service.name(), "\"].multi_server_channels[\"",
      channel.name(), "\"] has no members: ", ListSome(reasons, "; ")));
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
