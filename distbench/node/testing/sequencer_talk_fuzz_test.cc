// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A node survives any message of a sequencer.

#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/node/testing/sequencer_talk_fuzz_entry.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

constexpr int kRounds = 1000;
constexpr int kMaxMutations = 4;

TEST(SequencerTalkFuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& input : fuzzing::KeptCorpus("sequencer_talk")) {
    SequencerTalk talk;
    if (talk.ParsePartialFromString(input)) ObeySequencer(talk);
  }
}

TEST(SequencerTalkFuzzTest, SurvivesMutatedMessages) {
  fuzzing::MessageMutator mutator(1, {"client/0", "server/0", "client/-1"});
  for (int round = 0; round < kRounds; ++round) {
    SequencerTalk talk = ExampleSequencerTalk();
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(talk);
    ObeySequencer(talk);
  }
}

}  // namespace
}  // namespace distbench::node
