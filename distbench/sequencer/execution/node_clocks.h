// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The clocks of a test's nodes: makes all nodes start at the same time, and
// describes the differences in the result.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_NODE_CLOCKS_H_
#define DISTBENCH_SEQUENCER_EXECUTION_NODE_CLOCKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "distbench/sequencer/execution/participant.h"
#include "distbench/sequencer/nodes/clock_offset.h"
#include "distbench/sequencer/nodes/node_session.h"
#include "proto/results.pb.h"

namespace distbench::sequencer {

// The offset by which the node has to correct its clock; absent if its clock is
// not known to differ from the sequencer's.
std::optional<ClockOffset> OffsetToCorrect(const NodeSession& node);

// A finding if clocks that were corrected are so far off that nothing seems to
// set them. That clocks differ by less is usual.
std::optional<Finding> JudgeClockOffsets(const Participants& participants);

// How long before the start of the traffic the nodes are told of it, so that
// the command reaches all of them in time.
absl::Duration StartLead(const Participants& participants);

// A finding if nodes started noticeably later than the first one, or all of
// them much later than was planned.
std::optional<Finding> JudgeStart(const Participants& participants);

// Adds the best known clock offsets of nodes on other hosts.
void AddClockOffsets(const Participants& participants, RunInfo& info);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_NODE_CLOCKS_H_
