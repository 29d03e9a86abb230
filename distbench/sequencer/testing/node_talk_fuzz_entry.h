// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_SEQUENCER_TESTING_NODE_TALK_FUZZ_ENTRY_H_
#define DISTBENCH_SEQUENCER_TESTING_NODE_TALK_FUZZ_ENTRY_H_

#include "distbench/sequencer/nodes/node_talk.pb.h"

namespace distbench::sequencer {

// Registers the nodes, passes their messages to a session, and runs a test with
// the answers of the turns, up to its summary. Time passes as needed. Must end,
// with any result.
void ListenToNodes(const NodeTalk& talk);

// Nodes that behave well.
NodeTalk ExampleNodeTalk();

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_TESTING_NODE_TALK_FUZZ_ENTRY_H_
