// The clocks of a test's nodes: what it takes that all start at the same time,
// and what the result says of it.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_NODE_CLOCKS_H_
#define DISTBENCH_SEQUENCER_EXECUTION_NODE_CLOCKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "distbench/sequencer/execution/participant.h"
#include "distbench/sequencer/nodes/clock_offset.h"
#include "distbench/sequencer/nodes/node_handle.h"
#include "proto/results.pb.h"

namespace distbench {

// By how much the node has to correct its clock; absent if it is not known to
// differ from the sequencer's.
std::optional<ClockOffset> OffsetToCorrect(const NodeHandle& node);

// What users are told of that.
std::string CorrectionNote(const Participant& participant,
                           const ClockOffset& offset);

// How long before the traffic nodes are told to start it, so that all of them
// have heard by then.
absl::Duration StartLead(const std::vector<Participant>& participants);

// What users are told of a node that had not, and started so much later.
std::string LateStartWarning(const Participant& participant,
                             int64_t lateness_ns);

// Adds the offsets of nodes on other hosts, the best that is known by now.
void AddClockOffsets(const std::vector<Participant>& participants,
                     RunInfo& info);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_EXECUTION_NODE_CLOCKS_H_
