// Arithmetic on messages whose fields are all int64 counters, such as
// HostCounters and NetworkCounters.

#ifndef DISTBENCH_RESULTS_COUNTERS_H_
#define DISTBENCH_RESULTS_COUNTERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/message.h"
#include "proto/results.pb.h"

namespace distbench::results {

// Adds the counters that `from` has. Both have the same type.
void AddCounters(const google::protobuf::Message& from,
                 google::protobuf::Message& into);

// Adds what a group used in the interval after that of `sum`. Amounts of memory
// are those at the end.
void AppendUse(const GroupUse& later, GroupUse& sum);

// Turns a later reading of counters into what was counted since `start`.
// Counters that `start` lacks are removed. None becomes negative: the kernel
// may correct idle times downwards.
void SubtractCounters(const google::protobuf::Message& start,
                      google::protobuf::Message& into);

// All counters by name, in the order of their field numbers, with those that
// are absent.
std::vector<std::pair<std::string, std::optional<int64_t>>> ListCounters(
    const HostCounters& counters);

// The CPU time in which work was done on the host, without stolen time.
int64_t BusyCpuNs(const HostCounters& counters);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_COUNTERS_H_
