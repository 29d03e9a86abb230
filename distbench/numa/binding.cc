// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/numa/binding.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/numa/topology.h"

namespace distbench::numa {

absl::StatusOr<base::IndexSet> ParseNamedList(absl::string_view name,
                                              const std::string& list) {
  absl::StatusOr<base::IndexSet> indices = base::ParseIndexList(list);
  if (indices.ok()) return indices;
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": ", indices.status().message()));
}

namespace {

std::string Nodes(const base::IndexSet& nodes) {
  return absl::StrCat(nodes.size() == 1 ? "node " : "nodes ",
                      base::FormatIndexList(nodes));
}

absl::Status CheckNodesExist(absl::string_view field,
                             const base::IndexSet& nodes,
                             const HostTopology& topology) {
  const base::IndexSet ids = NumaNodeIds(topology);
  const base::IndexSet missing = base::Without(nodes, ids);
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      field, ": the host has no NUMA ", Nodes(missing), "; it has ",
      ids.empty() ? "none that its kernel reports" : Nodes(ids)));
}

// The node that an instance gets if instances are spread over the nodes.
base::IndexSet ShareOf(const base::IndexSet& nodes, int instance,
                       int instances_per_node) {
  const int turn = instance / std::max(1, instances_per_node);
  return {*std::next(nodes.begin(), turn % static_cast<int>(nodes.size()))};
}

absl::StatusOr<base::IndexSet> CpusOfAskedNodes(const base::IndexSet& nodes,
                                                const HostTopology& topology) {
  for (const int id : nodes) {
    if (FindNumaNode(topology, id)->cpus().empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("nodes: NUMA node ", id,
                       " has no CPUs, only memory; name a node that has some, "
                       "and this one in memory_nodes"));
    }
  }
  const base::IndexSet all = CpusOfNodes(topology, nodes);
  const base::IndexSet cpus =
      base::Intersection(all, IndicesOf(topology.allowed_cpus()));
  if (cpus.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "nodes: none of the CPUs of NUMA ", Nodes(nodes), " (",
        base::FormatIndexList(all),
        ") is among those that the process may use (", topology.allowed_cpus(),
        "); its cpuset or affinity forbids them"));
  }
  return cpus;
}

absl::Status CheckCpus(const base::IndexSet& cpus,
                       const HostTopology& topology) {
  const base::IndexSet missing =
      base::Without(cpus, IndicesOf(topology.allowed_cpus()));
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "cpus: ", base::FormatIndexList(missing),
      " cannot be used; the process may use CPUs ", topology.allowed_cpus()));
}

absl::Status CheckMemory(const base::IndexSet& nodes,
                         const HostTopology& topology) {
  absl::Status status = CheckNodesExist("memory_nodes", nodes, topology);
  if (!status.ok()) return status;
  for (const int id : nodes) {
    if (FindNumaNode(topology, id)->memory_bytes() > 0) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("memory_nodes: NUMA node ", id,
                     " has no memory; name nodes that have some"));
  }
  const base::IndexSet forbidden =
      base::Without(nodes, IndicesOf(topology.allowed_memory_nodes()));
  if (forbidden.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("memory_nodes: the process may not use memory of NUMA ",
                   Nodes(forbidden), ", only of ",
                   topology.allowed_memory_nodes(), "; its cpuset forbids it"));
}

// Fills in resolved.cpus, and returns the nodes of these CPUs.
absl::StatusOr<base::IndexSet> ResolveCpus(const NumaBinding& asked,
                                           int instance,
                                           const HostTopology& topology,
                                           ResolvedBinding& resolved) {
  absl::StatusOr<base::IndexSet> nodes = ParseNamedList("nodes", asked.nodes());
  if (!nodes.ok()) return nodes.status();
  absl::Status status = CheckNodesExist("nodes", *nodes, topology);
  if (!status.ok()) return status;
  if (nodes->empty() && asked.spread()) {
    for (const NumaNode& node : topology.numa_nodes()) {
      if (!node.cpus().empty()) nodes->insert(node.id());
    }
  }
  if (asked.spread() && !nodes->empty()) {
    *nodes = ShareOf(*nodes, instance, asked.instances_per_node());
  }
  absl::StatusOr<base::IndexSet> cpus = ParseNamedList("cpus", asked.cpus());
  if (!cpus.ok()) return cpus.status();
  if (!nodes->empty()) {
    cpus = CpusOfAskedNodes(*nodes, topology);
    if (!cpus.ok()) return cpus.status();
  } else if (cpus->empty()) {
    *cpus = IndicesOf(topology.allowed_cpus());
  }
  status = CheckCpus(*cpus, topology);
  if (!status.ok()) return status;
  if (cpus->empty()) {
    return absl::FailedPreconditionError(
        "the kernel does not report which CPUs the process may use");
  }
  resolved.cpus = *std::move(cpus);
  if (nodes->empty()) return NodesOfCpus(topology, resolved.cpus);
  return nodes;
}

absl::Status ResolveMemory(const NumaBinding& asked,
                           const base::IndexSet& run_on,
                           const HostTopology& topology,
                           ResolvedBinding& resolved) {
  const bool names_nodes = asked.has_nodes() || asked.spread();
  resolved.policy = asked.has_memory_policy() ? asked.memory_policy()
                    : names_nodes || asked.has_memory_nodes()
                        ? NumaBinding::BIND
                        : NumaBinding::LOCAL;
  if (resolved.policy == NumaBinding::LOCAL) return absl::OkStatus();
  absl::StatusOr<base::IndexSet> nodes =
      ParseNamedList("memory_nodes", asked.memory_nodes());
  if (!nodes.ok()) return nodes.status();
  resolved.memory_nodes = nodes->empty() ? run_on : *std::move(nodes);
  if (resolved.memory_nodes.empty()) {
    return absl::FailedPreconditionError(
        "memory_policy: the kernel reports no NUMA nodes whose memory could "
        "be used; use the policy LOCAL");
  }
  return CheckMemory(resolved.memory_nodes, topology);
}

}  // namespace

absl::StatusOr<ResolvedBinding> ResolveBinding(const NumaBinding& asked,
                                               int instance,
                                               const HostTopology& topology) {
  ResolvedBinding resolved;
  const absl::StatusOr<base::IndexSet> run_on =
      ResolveCpus(asked, instance, topology, resolved);
  if (!run_on.ok()) return run_on.status();
  const absl::Status status = ResolveMemory(asked, *run_on, topology, resolved);
  if (!status.ok()) return status;
  NumaBinding& proto = resolved.proto;
  proto.set_nodes(base::FormatIndexList(*run_on));
  proto.set_cpus(base::FormatIndexList(resolved.cpus));
  proto.set_memory_policy(resolved.policy);
  if (!resolved.memory_nodes.empty()) {
    proto.set_memory_nodes(base::FormatIndexList(resolved.memory_nodes));
  }
  proto.set_strict(asked.strict());
  return resolved;
}

std::string DescribeBinding(const NumaBinding& resolved) {
  std::string text = absl::StrCat("CPUs ", resolved.cpus(), ", memory ");
  const base::IndexSet nodes = IndicesOf(resolved.memory_nodes());
  switch (resolved.memory_policy()) {
    case NumaBinding::LOCAL:
      return text + "local";
    case NumaBinding::BIND:
      return absl::StrCat(text, "bound to ", Nodes(nodes));
    case NumaBinding::PREFERRED:
      return absl::StrCat(text, "preferred of ", Nodes(nodes));
    case NumaBinding::INTERLEAVE:
      return absl::StrCat(text, "interleaved over ", Nodes(nodes));
  }
  return text;
}

}  // namespace distbench::numa
