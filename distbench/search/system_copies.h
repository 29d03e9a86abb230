// Several copies of a system side by side in one test, which all start and end
// together.

#ifndef DISTBENCH_SEARCH_SYSTEM_COPIES_H_
#define DISTBENCH_SEARCH_SYSTEM_COPIES_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The test `count` times over. Services, RPCs, actions, lists and traces of
// copy k (from 1) are called "k.NAME"; what they refer to by name and is the
// same for all (payloads, distributions, drivers, activities) stays one. What
// shares a node by a bundle does so with its counterparts of the other copies.
// A count of 1 changes nothing.
DistributedSystemDescription ReplicateSystem(
    const DistributedSystemDescription& test, int count);

// The result of one copy, or with copy 0 of all of them together: as if
// `system` had been run on its own. Instances keep their long names.
// `result` is of ReplicateSystem(system, count).
TestResult ResultOfCopy(const TestResult& result,
                        const DistributedSystemDescription& system, int count,
                        int copy);

// Why a copy did not take part to the end: an instance of it was lost, or
// stopped early for a reason of its own, and not because all of the test was
// stopped. Empty if it did.
std::string FailureOfCopy(const TestResult& result, int copy);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_SYSTEM_COPIES_H_
