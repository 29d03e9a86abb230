// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Decides which node hosts which instances of a test.

#ifndef DISTBENCH_SEQUENCER_PLACEMENT_PLACEMENT_H_
#define DISTBENCH_SEQUENCER_PLACEMENT_PLACEMENT_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/config/syntax/constraints.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {

struct PlacementNode {
  std::string alias;
  config::Attributes attributes;

  // Names of the programs besides the node's own that it can host instances
  // with.
  std::set<std::string> engines = {};
};

// Instance names per node, in the order of the nodes; empty for nodes that do
// not take part in the test.
using Placement = std::vector<std::vector<std::string>>;

// Places every instance of a canonical test:
// 1. bundled instances on the node that their bundle names,
// 2. constrained ones, and those that need an engine by name, each on its own
// node: in the order of the config, on the first idle node that satisfies the
// constraints and has the engine, unless a later instance needs that node,
// 3. the rest, each on its own idle node, in the order of the nodes.
//
// The error says which instance cannot be placed, and why each node is
// unsuitable: NOT_FOUND if a bundle names something that does not exist,
// FAILED_PRECONDITION if there are too few nodes, if constraints cannot be met,
// or if instances that communicate only within one process would be on several
// nodes.
absl::StatusOr<Placement> PlaceInstances(
    const DistributedSystemDescription& test,
    const std::vector<PlacementNode>& nodes);

// Members of multi-server channels that depend on where instances run.

// Replaces those constraints of channels that refer to attributes of nodes by
// the selected instances, so that the config tells the nodes of the test
// everything they need. An instance has the attributes of its node in addition
// to its own. `placement` must be a placement on `nodes`.
//
// FAILED_PRECONDITION if a channel then has no members; the error says why.
absl::Status ResolveChannelMembers(const std::vector<PlacementNode>& nodes,
                                   const Placement& placement,
                                   DistributedSystemDescription& test);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_PLACEMENT_PLACEMENT_H_
