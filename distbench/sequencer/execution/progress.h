#ifndef DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_
#define DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_

#include "proto/control.pb.h"

namespace distbench {

// Takes a node's newer report for its older one: totals replace totals, while
// what was measured lately adds up until somebody is told.
void UpdateProgress(const TrafficProgress& newer, TrafficProgress& progress);

// Adds what one node reports to the sum over nodes. Times that are not valid
// are left out.
void AddProgress(const TrafficProgress& part, TrafficProgress& sum);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_EXECUTION_PROGRESS_H_
