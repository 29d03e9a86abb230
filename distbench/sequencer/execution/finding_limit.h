// Keeps what thousands of nodes found from hiding everything else.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_FINDING_LIMIT_H_
#define DISTBENCH_SEQUENCER_EXECUTION_FINDING_LIMIT_H_

#include "proto/results.pb.h"

namespace distbench::sequencer {

// The most findings of one code and severity that a result lists.
inline constexpr int kMostFindingsOfAKind = 100;

// Keeps the first findings of each kind, and replaces the rest of a kind by one
// finding that counts them.
void LimitFindings(RunInfo& info);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_FINDING_LIMIT_H_
