// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Describes a host's processors and memory.
//
// The facts are read from the kernel's files rather than with hwloc, because
// results must contain what the kernel reports, and nothing else. hwloc always
// shows a whole tree: it invents a node for a kernel without NUMA, leaves out
// the distance of a single node, changes sets of CPUs that do not nest, and
// completes the files' contents from CPUID. It does not know a node's free
// memory, nor, below another root, what the process may use. It takes another
// root only from an environment variable, which applies to all threads.

#ifndef DISTBENCH_NUMA_TOPOLOGY_H_
#define DISTBENCH_NUMA_TOPOLOGY_H_

#include <cstdint>
#include <string>

#include "distbench/base/index_list.h"
#include "proto/results.pb.h"

namespace distbench::numa {

// The kernel counts memory in KiB.
inline constexpr int64_t kBytesPerKib = 1024;

// Reads /sys/devices/system and /proc/self/status below `root` (empty: the real
// ones). Unknown facts are left out; for example, a kernel without NUMA reports
// no nodes.
HostTopology ReadHostTopology(const std::string& root);

// The node with this id; null if there is none.
const NumaNode* FindNumaNode(const HostTopology& topology, int id);

// The ids of all nodes.
base::IndexSet NumaNodeIds(const HostTopology& topology);

// Parses a list in the topology; empty if it is malformed.
base::IndexSet IndicesOf(const std::string& list);

// The nodes that contain any of the CPUs.
base::IndexSet NodesOfCpus(const HostTopology& topology,
                           const base::IndexSet& cpus);

// The CPUs of the nodes.
base::IndexSet CpusOfNodes(const HostTopology& topology,
                           const base::IndexSet& nodes);

// Describes the topology for users, in a line without its end: "node 0: CPUs
// 0-3, 7.8 GiB; node 1: ...; may use CPUs 0-1 and the memory of nodes 0-1".
std::string DescribeTopology(const HostTopology& topology);

}  // namespace distbench::numa

#endif  // DISTBENCH_NUMA_TOPOLOGY_H_
