// Divides a host's CPUs between copies of a system, so that the copies disturb
// each other as little as one host allows.

#ifndef DISTBENCH_PRODUCTS_SEARCH_CPU_SLICES_H_
#define DISTBENCH_PRODUCTS_SEARCH_CPU_SLICES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

// Divides the CPUs that may be used into `count` lists ("0-3,8-11") of
// neighbouring cores. The CPUs of a core stay together, and the numbers of
// cores differ by at most one. FAILED_PRECONDITION if there are fewer cores.
absl::StatusOr<std::vector<std::string>> SliceCpus(const HostTopology& topology,
                                                   int count);

// The same for the host of the nodes, and CPUs that all of them may use.
// FAILED_PRECONDITION if they are on several hosts.
absl::StatusOr<std::vector<std::string>> SliceHost(
    const GetStatusResponse& status, int count);

// Whether all nodes are on one host.
bool IsOneHost(const GetStatusResponse& status);

// Binds the services of copy k of the system to the k-th list. `test` must come
// from ReplicateSystem() with as many copies. Without lists, nothing changes.
// INVALID_ARGUMENT if a service has
// a binding of its own.
absl::Status BindCopies(const std::vector<std::string>& slices,
                        DistributedSystemDescription& test);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_CPU_SLICES_H_
