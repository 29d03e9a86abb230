// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs several copies of a system side by side in one test; all start and end
// together.

#ifndef DISTBENCH_PRODUCTS_SEARCH_SYSTEM_COPIES_H_
#define DISTBENCH_PRODUCTS_SEARCH_SYSTEM_COPIES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

// Returns a test with `count` copies of the system. Services, RPCs, actions,
// lists, traces and faults of copy k (from 1) are called "k.NAME", and each
// copy has its own control groups. There are no objectives and no experiment,
// which are those of one copy. What copies refer to by name and share
// (payloads, distributions, drivers, activities) is not copied. Instances that
// a bundle puts on one node share it with their counterparts in the other
// copies. A count of 1 changes nothing.
DistributedSystemDescription ReplicateSystem(
    const DistributedSystemDescription& test, int count);

// Returns the result of one copy, or with copy 0 of all copies together, as if
// `system` had run on its own. Instances keep their long names. `result` must
// come from ReplicateSystem(system, count).
TestResult ResultOfCopy(const TestResult& result,
                        const DistributedSystemDescription& system, int count,
                        int copy);

// Explains why a copy did not take part until the end: one of its instances was
// lost, or stopped early for its own reason rather than because the whole test
// was stopped. Empty if the copy took part.
std::string FailureOfCopy(const TestResult& result, int copy);

// Divides a host's CPUs between copies of a system, so that the copies disturb
// each other as little as one host allows.

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

#endif  // DISTBENCH_PRODUCTS_SEARCH_SYSTEM_COPIES_H_
