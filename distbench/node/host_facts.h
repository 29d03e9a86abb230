// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_NODE_HOST_FACTS_H_
#define DISTBENCH_NODE_HOST_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/results.pb.h"

namespace distbench::node {

// Facts about this host that take long to find. A product adds its own with
// base::Plugin<node::LastingFacts>.
struct LastingFacts {
  HostFacts (*find)();
};

// Those of all products together.
HostFacts FindLastingFacts();

// Describes this host with all other facts, using /proc and /sys below `root`
// (empty: the real ones), uname(2), the libraries of this program, and what
// NodeExtensions add. Unknown facts are absent.
HostFacts ReadHostFacts(const std::string& root);

// The network devices of a host: how packets leave them, and which CPUs they
// interrupt.

// A queueing discipline, with the kernel's handles.
struct QueueingDiscipline {
  int device = 0;  // interface index
  uint32_t handle = 0;
  uint32_t parent = 0;
  std::string kind = {};
};

// Parses a message of rtnetlink(7): a tcmsg and its attributes.
std::optional<QueueingDiscipline> ParseQueueingDiscipline(
    absl::string_view message);

// By interface index: the root discipline, such as "fq_codel". Disciplines of
// its queues or classes follow in brackets: "mq (fq_codel)".
std::map<int, std::string> NameQueueingDisciplines(
    const std::vector<QueueingDiscipline>& disciplines);

// Same, of the real devices; empty if the kernel does not tell.
std::map<int, std::string> ReadQueueingDisciplines();

// Adds the devices that are up, from /sys and /proc below `root`.
void AddNetworkDevices(const std::string& root,
                       const std::map<int, std::string>& disciplines,
                       HostFacts& facts);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_HOST_FACTS_H_
