#ifndef DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_
#define DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_

#include "proto/control.pb.h"

namespace distbench {

// Replaces a node's older report by its newer one: totals are replaced, while
// recent measurements accumulate until they are reported.
void UpdateProgress(const TrafficProgress& newer, TrafficProgress& progress);

// Adds one node's report to the sum over nodes. Leaves out invalid times.
void AddProgress(const TrafficProgress& part, TrafficProgress& sum);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_
