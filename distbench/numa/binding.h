// What a NumaBinding means on a host.

#ifndef DISTBENCH_NUMA_BINDING_H_
#define DISTBENCH_NUMA_BINDING_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/index_list.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// A binding of one instance to this host's CPUs and memory.
struct ResolvedBinding {
  // With all defaults filled in, and what `spread` gave this instance.
  NumaBinding proto;

  IndexSet cpus;          // never empty
  IndexSet memory_nodes;  // empty with LOCAL only
  NumaBinding::MemoryPolicy policy = NumaBinding::LOCAL;
};

// What is asked for, for the instance of that number (from 0) within its
// service. Of the CPUs of nodes, those that the process may use are taken; CPUs
// that are named must all be there. INVALID_ARGUMENT if a list is wrong,
// FAILED_PRECONDITION if this host can not do it: says why, and what it has.
absl::StatusOr<ResolvedBinding> ResolveBinding(const NumaBinding& asked,
                                               int instance,
                                               const HostTopology& topology);

// "CPUs 0-3, memory bound to node 0".
std::string DescribeBinding(const NumaBinding& resolved);

// As flags and documentation call it: "bind", "preferred", "interleave" or
// "local".
absl::string_view MemoryPolicyName(NumaBinding::MemoryPolicy policy);

}  // namespace distbench

#endif  // DISTBENCH_NUMA_BINDING_H_
