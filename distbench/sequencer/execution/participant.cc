// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/participant.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "distbench/base/hosts.h"
#include "distbench/base/index_list.h"
#include "distbench/numa/topology.h"

namespace distbench::sequencer {
namespace {

// The most nodes that a message names with their hosts.
constexpr size_t kMostNamed = 10;

// The longest list of ranges. Nodes may be lost here and there, and a message
// may become the status of a call, which has to fit into some kilobytes.
constexpr size_t kMostRangeBytes = 2000;

// The begin of NodeAlias().
constexpr absl::string_view kNode = "node";

// In the order of the steps.
constexpr struct {
  absl::string_view deed;
  absl::string_view when;
} kStepTexts[kStepCount] = {
    {"prepare its instances", "while the test was prepared"},
    {"connect its instances to their peers",
     "while the instances were connected"},
    {"start its traffic", "while the traffic was started"},
    {"end its traffic", "during the traffic"},
    {"hand over its results", "while results were collected"},
    {"get ready for the next test", "at the end of the test"},
};

}  // namespace

absl::string_view DeedOf(Step step) {
  return kStepTexts[static_cast<int>(step)].deed;
}

absl::string_view WhenIs(Step step) {
  return kStepTexts[static_cast<int>(step)].when;
}

std::string Participant::Name() const {
  return absl::StrCat(share.node->alias(), " (host ",
                      share.node->registration().hostname(), ")");
}

void NodeNames::Add(const Participant& participant) {
  ++count_;
  if (first_names_.size() < kMostNamed) {
    first_names_.push_back(participant.Name());
  }
  int id = 0;
  absl::string_view number = participant.share.node->alias();
  if (absl::ConsumePrefix(&number, kNode) && absl::SimpleAtoi(number, &id)) {
    ids_.insert(id);
  }
}

std::string NodeNames::Text() const {
  if (count_ <= kMostNamed) return absl::StrJoin(first_names_, ", ");
  std::string ranges = base::FormatIndexList(ids_);
  if (ranges.size() > kMostRangeBytes) {
    ranges.resize(ranges.rfind(',', kMostRangeBytes));
    ranges += " and others";
  }
  return absl::StrCat(count_, " nodes (", kNode, ranges, "; the first is ",
                      first_names_.front(), ")");
}

Participants::Participants(const std::vector<NodeShare>& shares)
    : all_(shares.begin(), shares.end()) {
  for (size_t i = 0; i < all_.size(); ++i) {
    positions_.emplace(all_[i].share.node.get(), i);
  }
}

Participant* Participants::Find(const NodeSession* node) {
  const auto it = positions_.find(node);
  return it == positions_.end() ? nullptr : &all_[it->second];
}

void Participants::Begin(Participant& participant, Step step) {
  const int index = static_cast<int>(step);
  awaited_[index] += !std::exchange(participant.pending[index], true);
}

bool Participants::End(Participant& participant, Step step) {
  const int index = static_cast<int>(step);
  const bool was_awaited = std::exchange(participant.pending[index], false);
  awaited_[index] -= was_awaited;
  return was_awaited;
}

void Participants::EndAll(Participant& participant) {
  for (int i = 0; i < kStepCount; ++i) End(participant, static_cast<Step>(i));
}

std::string Participants::WhoAwaits(Step step) const {
  NodeNames names;
  for (const Participant& participant : all_) {
    if (Awaits(participant, step)) names.Add(participant);
  }
  return names.Text();
}

std::string LateMessage(Step step, absl::Duration timeout,
                        const Participants& participants) {
  return absl::StrCat(participants.WhoAwaits(step), " did not ", DeedOf(step),
                      " within ", absl::FormatDuration(timeout));
}

bool AllAreLocal(const Participants& participants) {
  return std::all_of(
      participants.begin(), participants.end(),
      [](const Participant& p) { return p.share.node->is_local(); });
}

void LostNodes::Add(const Participant& participant, Step step,
                    const std::string& reason) {
  auto group = std::find_if(
      groups_.begin(), groups_.end(),
      [&](const Group& g) { return g.step == step && g.reason == reason; });
  if (group == groups_.end()) {
    group = groups_.insert(group, {.step = step, .reason = reason});
  }
  group->names.Add(participant);
}

std::vector<std::string> LostNodes::Messages() const {
  std::vector<std::string> messages;
  for (const Group& group : groups_) {
    messages.push_back(absl::StrCat(
        group.names.Text(), group.names.count() == 1 ? " was" : " were",
        " lost ", WhenIs(group.step), ": ", group.reason));
  }
  return messages;
}

namespace {

// Nodes that share CPUs: nodes of a host that may use the same ones.
struct CpuGroup {
  int cpu_count = 1;
  int instance_count = 0;
};

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

PlacementNode PlacementNodeOf(const std::string& alias,
                              const NodeRegistration& registration) {
  PlacementNode node = {.alias = alias, .attributes = {}};
  for (const Attribute& attribute : registration.attributes()) {
    node.attributes[attribute.name()] = attribute.value();
  }
  for (const EngineProgram& engine : registration.engines()) {
    node.engines.insert(engine.name());
  }
  AddKnownAttributes(registration, node.attributes);
  node.attributes["node_alias"] = alias;
  return node;
}

std::vector<PlacementNode> PlacementNodes(
    const std::vector<std::shared_ptr<NodeSession>>& nodes) {
  std::vector<PlacementNode> placement_nodes;
  for (const auto& node : nodes) {
    placement_nodes.push_back(
        PlacementNodeOf(node->alias(), node->registration()));
  }
  return placement_nodes;
}

std::vector<NodeShare> MakeNodeShares(
    const std::vector<std::shared_ptr<NodeSession>>& nodes,
    const Placement& placement) {
  base::HostNumbers hosts;
  std::map<std::pair<int, std::string>, CpuGroup> groups;  // by host and CPUs
  std::vector<CpuGroup*> group_of;                         // by node
  for (int i = 0; i < nodes.size(); ++i) {
    const NodeRegistration& node = nodes[i]->registration();
    CpuGroup& group = groups[{hosts.Of(node.hostname(), node.boot_id()),
                              node.topology().allowed_cpus()}];
    group.cpu_count = std::max(group.cpu_count, node.cpu_count());
    group.instance_count += placement[i].size();
    group_of.push_back(&group);
  }
  std::vector<NodeShare> shares;
  for (int i = 0; i < nodes.size(); ++i) {
    if (placement[i].empty()) continue;
    const CpuGroup& group = *group_of[i];
    shares.push_back({.node = nodes[i],
                      .instances = placement[i],
                      .workers_per_instance =
                          std::max(1, group.cpu_count / group.instance_count)});
  }
  return shares;
}

}  // namespace distbench::sequencer
