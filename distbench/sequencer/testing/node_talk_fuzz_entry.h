#ifndef DISTBENCH_SEQUENCER_TESTING_NODE_TALK_FUZZ_ENTRY_H_
#define DISTBENCH_SEQUENCER_TESTING_NODE_TALK_FUZZ_ENTRY_H_

#include "distbench/sequencer/nodes/node_talk.pb.h"

namespace distbench {

// Registers the nodes, hands what they say to a session, and runs a test with
// what the turns answer, up to its summary. Time passes as it is needed. Must
// end, with whatever result.
void ListenToNodes(const NodeTalk& talk);

// Nodes that do well.
NodeTalk ExampleNodeTalk();

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_TESTING_NODE_TALK_FUZZ_ENTRY_H_
