#ifndef DISTBENCH_SEQUENCER_EXECUTION_EXPECTED_DURATION_H_
#define DISTBENCH_SEQUENCER_EXECUTION_EXPECTED_DURATION_H_

#include <cstdint>
#include <optional>

#include "proto/traffic_config.pb.h"

namespace distbench {

// How long a canonical test will send traffic according to its config, in
// microseconds: the longest chain of dependent actions of a main list, by their
// max_duration_us. Absent if no main list has such a limit.
std::optional<int64_t> ExpectedDurationUs(
    const DistributedSystemDescription& test);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_EXECUTION_EXPECTED_DURATION_H_
