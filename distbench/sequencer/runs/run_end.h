#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_END_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_END_H_

#include "absl/status/status.h"
#include "proto/control.pb.h"

namespace distbench {

// Whether the run neither waits nor runs.
bool HasEnded(const RunDescription& run);

// What a run that has ended told its clients at its end.
absl::Status EndOf(const RunDescription& run);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_END_H_
