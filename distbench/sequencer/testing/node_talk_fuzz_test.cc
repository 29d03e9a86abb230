// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// With any messages of nodes, a test ends with a result and a summary.

#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/sequencer/testing/node_talk_fuzz_entry.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

constexpr int kRounds = 3000;
constexpr int kMaxMutations = 4;

TEST(NodeTalkFuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& input : fuzzing::KeptCorpus("node_talk")) {
    NodeTalk talk;
    if (talk.ParsePartialFromString(input)) ListenToNodes(talk);
  }
}

TEST(NodeTalkFuzzTest, SurvivesMutatedMessages) {
  fuzzing::MessageMutator mutator(1, {"client/0", "server/0", "node0"});
  for (int round = 0; round < kRounds; ++round) {
    NodeTalk talk = ExampleNodeTalk();
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(talk);
    ListenToNodes(talk);
  }
}

}  // namespace
}  // namespace distbench::sequencer
