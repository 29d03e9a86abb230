// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Whether hosts have what a test needs, which nothing but a run of the test
// would say otherwise.

#ifndef DISTBENCH_CLI_HOST_CHECK_H_
#define DISTBENCH_CLI_HOST_CHECK_H_

#include <string>
#include <vector>

#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::cli {

// Sentences for users. What several nodes lack alike is one of them.
struct HostCheck {
  // For which a run would fail before its traffic.
  std::vector<std::string> problems;

  // What the run would go without, or what is not known.
  std::vector<std::string> warnings;
};

// Checks a canonical test against the nodes of a sequencer, whose status is one
// with hosts: whether all instances can be placed, and what the nodes on which
// they would be lack (node/host_lacks.h).
HostCheck CheckNodes(const DistributedSystemDescription& test,
                     const GetStatusResponse& status);

// Checks it against one host that runs all instances, whatever the test says
// about places. `host` is what a node there would say of itself.
HostCheck CheckHost(const DistributedSystemDescription& test,
                    const NodeRegistration& host);

// What a node manager on this host, in the control group of this process, would
// say of itself.
NodeRegistration DescribeThisHost();

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_HOST_CHECK_H_
