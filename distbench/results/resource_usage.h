// Measures a process's resource usage, for results.

#ifndef DISTBENCH_RESULTS_RESOURCE_USAGE_H_
#define DISTBENCH_RESULTS_RESOURCE_USAGE_H_

#include "proto/results.pb.h"

namespace distbench::results {

// Usage of this process so far, including all threads.
RUsage ProcessUsage();

// Adds the usage of another process.
void AddUsage(const RUsage& usage, RUsage& sum);

// Usage between two calls of ProcessUsage() in the same process. The maximum
// resident set size is that of `end`, because it is not a count.
RUsageStats UsageBetween(const RUsage& start, const RUsage& end);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_RESOURCE_USAGE_H_
