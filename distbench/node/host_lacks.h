// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a host lacks for a test, which can be said before the test is run: by
// what a node said of itself when it registered.

#ifndef DISTBENCH_NODE_HOST_LACKS_H_
#define DISTBENCH_NODE_HOST_LACKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/node/node_extension.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::node {

// Returns what the node would miss if it were to host these instances of a
// canonical test: what a test requires of hosts, bindings, drivers of its
// program or its engines, and what products need. The messages are those with
// which nodes refuse tests. What the node does not say is not missed: see
// SaysWhatItHas().
//
// Not told: what depends on the moment and on peers (threads, files, ports,
// memory, addresses).
std::vector<HostLack> FindLacks(
    const DistributedSystemDescription& test,
    const std::vector<std::string>& instances, const NodeRegistration& node,
    const NodeExtensions& extensions = base::Plugins<NodeExtension>::All());

// Whether the node says what its host has. Those of distbench 1.0 and older do
// not, apart from the topology.
bool SaysWhatItHas(const NodeRegistration& node);

// The error lists the requirements that the host does not meet.
absl::Status CheckRequirements(const HostRequirements& requirements,
                               const HostFacts& facts);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_HOST_LACKS_H_
