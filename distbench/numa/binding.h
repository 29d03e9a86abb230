// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Resolves a NumaBinding for a host.

#ifndef DISTBENCH_NUMA_BINDING_H_
#define DISTBENCH_NUMA_BINDING_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/index_list.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::numa {

// Parses a list such as "0-3,8". INVALID_ARGUMENT begins with `name`, that of
// the field or flag.
absl::StatusOr<base::IndexSet> ParseNamedList(absl::string_view name,
                                              const std::string& list);

// A binding of one instance to this host's CPUs and memory.
struct ResolvedBinding {
  // With defaults filled in, and with this instance's share if `spread` is set.
  NumaBinding proto;

  base::IndexSet cpus;          // never empty
  base::IndexSet memory_nodes;  // empty only with LOCAL
  NumaBinding::MemoryPolicy policy = NumaBinding::LOCAL;
};

// Resolves the binding of an instance, numbered from 0 within its service. Of a
// node's CPUs, those that the process may use are taken; explicitly listed CPUs
// must all be available. INVALID_ARGUMENT if a list is malformed.
// FAILED_PRECONDITION if this host cannot satisfy the binding; the message says
// why, and what the host has.
absl::StatusOr<ResolvedBinding> ResolveBinding(const NumaBinding& asked,
                                               int instance,
                                               const HostTopology& topology);

// Returns "CPUs 0-3, memory bound to node 0".
std::string DescribeBinding(const NumaBinding& resolved);

}  // namespace distbench::numa

#endif  // DISTBENCH_NUMA_BINDING_H_
