// How far a test has come, and how long it will take.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_
#define DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_

#include <cstdint>
#include <optional>

#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Replaces a node's older report by its newer one: totals are replaced, while
// recent measurements accumulate until they are reported.
void UpdateProgress(const TrafficProgress& newer, TrafficProgress& progress);

// Adds one node's report to the sum over nodes. Leaves out invalid times.
void AddProgress(const TrafficProgress& part, TrafficProgress& sum);

// How long a canonical test will send traffic according to its config, in
// microseconds: the longest chain of dependent actions of a main list, by their
// max_duration_us. Absent if no main list has such a limit.
std::optional<int64_t> ExpectedDurationUs(
    const DistributedSystemDescription& test);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_
