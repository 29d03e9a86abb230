// Runs several copies of a system side by side in one test; all start and end
// together.

#ifndef DISTBENCH_PRODUCTS_SEARCH_SYSTEM_COPIES_H_
#define DISTBENCH_PRODUCTS_SEARCH_SYSTEM_COPIES_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

// Returns a test with `count` copies of the system. Services, RPCs, actions,
// lists, traces and faults of copy k (from 1) are called "k.NAME". What they
// refer to by name and share (payloads, distributions, drivers, activities) is
// not copied. Instances that a bundle puts on one node share it with their
// counterparts in the other copies. A count of 1 changes nothing.
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

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_SYSTEM_COPIES_H_
