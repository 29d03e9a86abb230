// What a process has used of its host, for results.

#ifndef DISTBENCH_RESULTS_RESOURCE_USAGE_H_
#define DISTBENCH_RESULTS_RESOURCE_USAGE_H_

#include "proto/results.pb.h"

namespace distbench {

// Usage of this process, all its threads included, until now.
RUsage ProcessUsage();

// Adds the usage of another process.
void AddUsage(const RUsage& usage, RUsage& sum);

// Usage between two ProcessUsage() of the same process. The maximum resident
// set is that of `end`, as it is no count.
RUsageStats UsageBetween(const RUsage& start, const RUsage& end);

}  // namespace distbench

#endif  // DISTBENCH_RESULTS_RESOURCE_USAGE_H_
