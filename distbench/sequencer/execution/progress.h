// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How far a test has come, and how long it will take.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_
#define DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {

// How often each of so many nodes reports: once a second, or, if there are more
// than a thousand, so often that a thousand reports come in a second, which is
// all that a display needs.
absl::Duration ProgressInterval(int64_t node_count);

// Whether so many nodes report with their pongs. Fewer report at once.
bool ReportsWithPongs(int64_t node_count);

// Replaces the totals of a node by those of its newer report.
void UpdateProgress(const TrafficProgress& newer, TrafficProgress& progress);

// How long a canonical test will send traffic according to its config, in
// microseconds: the longest chain of dependent actions of a main list, by their
// max_duration_us. Absent if no main list has such a limit.
std::optional<int64_t> ExpectedDurationUs(
    const DistributedSystemDescription& test);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_
