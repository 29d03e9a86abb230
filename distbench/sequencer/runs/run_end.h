#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_END_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_END_H_

#include "absl/status/status.h"
#include "proto/control.pb.h"

namespace distbench {

// Whether the run is neither waiting nor running.
bool HasEnded(const RunDescription& run);

// The status that clients of an ended run receive.
absl::Status EndOf(const RunDescription& run);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_END_H_
