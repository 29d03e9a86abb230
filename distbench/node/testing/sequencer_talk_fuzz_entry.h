// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_NODE_TESTING_SEQUENCER_TALK_FUZZ_ENTRY_H_
#define DISTBENCH_NODE_TESTING_SEQUENCER_TALK_FUZZ_ENTRY_H_

#include "absl/functional/function_ref.h"
#include "distbench/node/test_part.h"
#include "distbench/node/testing/sequencer_talk.pb.h"

namespace distbench::node {

// Takes a test through as many of its steps as possible, with engines that send
// nothing. Must end, with any result. The environment has no products, unless
// `change` adds them.
void ObeySequencer(
    const SequencerTalk& talk,
    absl::FunctionRef<void(NodeEnvironment&)> change = [](NodeEnvironment&) {});

// A test that can be hosted.
SequencerTalk ExampleSequencerTalk();

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_TESTING_SEQUENCER_TALK_FUZZ_ENTRY_H_
