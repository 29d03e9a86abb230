// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What processes, control groups and hosts have used. See message_sums.h for
// sums of such messages.

#ifndef DISTBENCH_RESULTS_RESOURCE_USAGE_H_
#define DISTBENCH_RESULTS_RESOURCE_USAGE_H_

#include <cstdint>

#include "proto/results.pb.h"

namespace distbench::results {

// Usage of this process so far, including all threads.
RUsage ProcessUsage();

// Usage between two calls of ProcessUsage() in the same process. The maximum
// resident set size is that of `end`, because it is not a count.
RUsageStats UsageBetween(const RUsage& start, const RUsage& end);

// Returns what a group used between two readings; of memory and swap, what
// `later` says. A field that `later` lacks is absent; one that `earlier` lacks
// counts from 0.
GroupUse UseBetween(const GroupUse& earlier, const GroupUse& later);

// Adds what a group used in the interval after that of `sum`. Amounts of memory
// are those at the end.
void AppendUse(const GroupUse& later, GroupUse& sum);

// How many CPUs the host has, whether or not the node manager may use them; 0
// if that is not known. Results of older versions, and simulated ones, only say
// how many it may use.
int CpuCountOf(const HostFacts& host);

// The CPU time in which work was done on the host, without stolen time.
int64_t BusyCpuNs(const HostCounters& counters);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_RESOURCE_USAGE_H_
