// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A node survives any controls that a sequencer sends.

#include <cstdint>
#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/fuzzing/random_source.h"
#include "distbench/node/testing/sequencer_talk_fuzz_entry.h"
#include "distbench/products/protection/language/testing/random_experiment.h"
#include "distbench/products/protection/node/testing/fake_control_host.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

constexpr int kRounds = 100;
constexpr int kMaxMutations = 4;

// No input may change the control groups of this host.
void ObeyOnFakeHost(const SequencerTalk& talk) {
  FakeControlHost host;
  const std::string before = host.hierarchy().Snapshot();
  node::ObeySequencer(talk, [&](node::NodeEnvironment& environment) {
    host.AddTo(environment);
  });
  EXPECT_EQ(host.hierarchy().Snapshot(), before) << "all is undone";
}

TEST(ControlFuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& input : fuzzing::KeptCorpus("sequencer_talk")) {
    SequencerTalk talk;
    if (talk.ParsePartialFromString(input)) ObeyOnFakeHost(talk);
  }
}

TEST(ControlFuzzTest, SurvivesRandomControls) {
  fuzzing::MessageMutator mutator(1, {"client/0", "client", "*"});
  for (uint64_t seed = 1; seed <= kRounds; ++seed) {
    fuzzing::RandomSource random(seed);
    SequencerTalk talk = node::ExampleSequencerTalk();
    DistributedSystemDescription& test =
        *talk.mutable_prepare()->mutable_config()->mutable_traffic_config();
    *test.mutable_controls() = AnyControls("*", random);
    ObeyOnFakeHost(talk);
    for (uint64_t i = 0; i <= seed % kMaxMutations; ++i) {
      mutator.Mutate(*test.mutable_controls());
    }
    ObeyOnFakeHost(talk);
  }
}

}  // namespace
}  // namespace distbench::protection
