// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/host_check.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/text_table.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/node/host_facts.h"
#include "distbench/node/host_lacks.h"
#include "distbench/node/node_manager.h"
#include "distbench/protocol/addresses.h"
#include "distbench/sequencer/execution/participant.h"
#include "distbench/sequencer/placement/placement.h"

namespace distbench::cli {
namespace {

using Instances = std::vector<std::string>;

// A sentence names this many nodes, and only counts the others.
constexpr size_t kMostNamed = 3;

// A node started with --listen does without the device.
void AddMissingDevices(const DistributedSystemDescription& test,
                       const Instances& instances, const NodeRegistration& node,
                       std::vector<node::HostLack>& lacks) {
  std::vector<std::string> devices;
  for (const NetworkDevice& device : node.host().network_devices()) {
    devices.push_back(device.name());
  }
  if (devices.empty()) return;  // not known
  std::set<std::string> services;
  for (const std::string& name : instances) {
    services.insert(config::ServiceOf(name));
  }
  std::set<std::string> wanted;
  const config::TestNames names(test);
  for (const ServiceSpec& service : test.services()) {
    if (!services.contains(service.name())) continue;
    for (const auto& driver : config::DriversOf(test, names, service)) {
      wanted.insert(driver.options->netdev_name());
    }
  }
  wanted.erase("");
  for (const std::string& device : wanted) {
    const absl::Status status = protocol::CheckDevice(device, devices);
    if (status.ok()) continue;
    lacks.push_back({std::string(status.message()), /*is_refusal=*/false});
  }
}

std::vector<node::HostLack> LacksOf(const DistributedSystemDescription& test,
                                    const Instances& instances,
                                    const NodeRegistration& node) {
  std::vector<node::HostLack> lacks = node::FindLacks(test, instances, node);
  AddMissingDevices(test, instances, node, lacks);
  return lacks;
}

// What is said of nodes, in the order in which it was first said.
class Sayings {
 public:
  void Add(const std::string& node, std::string message) {
    const auto [position, is_new] =
        positions_.try_emplace(message, sayings_.size());
    if (is_new) sayings_.push_back({std::move(message), {}});
    sayings_[position->second].nodes.push_back(node);
  }

  std::vector<std::string> Take() const {
    std::vector<std::string> sentences;
    for (const auto& [message, nodes] : sayings_) {
      const std::string names =
          base::JoinSome(nodes, kMostNamed, ", ", " and ");
      sentences.push_back(absl::StrCat(
          names, nodes.size() > kMostNamed ? " nodes" : "", ": ", message));
    }
    return sentences;
  }

 private:
  struct Saying {
    std::string message;
    std::vector<std::string> nodes;
  };
  std::vector<Saying> sayings_;
  std::map<std::string, size_t> positions_;  // by message
};

std::string NameOf(const NodeStatus& node) {
  return absl::StrCat(node.config().node_alias(), " (host ",
                      node.registration().hostname(), ")");
}

std::string Unknown(const NodeRegistration& node) {
  return absl::StrCat(
      "distbench ", node.version(),
      " does not say what its host has, so that only a run can tell");
}

}  // namespace

HostCheck CheckNodes(const DistributedSystemDescription& test,
                     const GetStatusResponse& status) {
  std::vector<sequencer::PlacementNode> nodes;
  for (const NodeStatus& node : status.nodes()) {
    nodes.push_back(sequencer::PlacementNodeOf(node.config().node_alias(),
                                               node.registration()));
  }
  const absl::StatusOr<sequencer::Placement> placement =
      sequencer::PlaceInstances(test, nodes);
  if (!placement.ok()) {
    return {.problems = {std::string(placement.status().message())},
            .warnings = {}};
  }
  Sayings problems;
  Sayings warnings;
  for (int i = 0; i < status.nodes_size(); ++i) {
    const Instances& instances = (*placement)[i];
    if (instances.empty()) continue;
    const NodeStatus& node = status.nodes(i);
    for (node::HostLack& lack : LacksOf(test, instances, node.registration())) {
      (lack.is_refusal ? problems : warnings)
          .Add(NameOf(node), std::move(lack.message));
    }
    if (!node::SaysWhatItHas(node.registration())) {
      warnings.Add(NameOf(node), Unknown(node.registration()));
    }
  }
  return {.problems = problems.Take(), .warnings = warnings.Take()};
}

HostCheck CheckHost(const DistributedSystemDescription& test,
                    const NodeRegistration& host) {
  Instances instances;
  for (const ServiceSpec& service : test.services()) {
    for (std::string& name : config::InstanceNames(service)) {
      instances.push_back(std::move(name));
    }
  }
  HostCheck check;
  for (node::HostLack& lack : LacksOf(test, instances, host)) {
    (lack.is_refusal ? check.problems : check.warnings)
        .push_back(std::move(lack.message));
  }
  return check;
}

NodeRegistration DescribeThisHost() {
  node::NodeManagerOptions options;
  options.lasting_facts = node::FindLastingFacts();
  return node::MakeRegistration(options);
}

}  // namespace distbench::cli
