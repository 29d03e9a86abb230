// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Any CONFIG argument must be built or rejected.

#include <iterator>
#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "gtest/gtest.h"
#include "test_builder/testing/pattern_fuzz_entry.h"

namespace distbench::test_builder {
namespace {

constexpr int kRounds = 2000;
constexpr int kMaxMutations = 4;

constexpr const char* kConfigs[] = {
    "client_server:grpc:ipv4:client_count=2:server_count=3",
    "clique:node_count=4,5:tcp",
    "multi_level_rpc:leaf_count=3:fanout_filter=all",
    "rectangular:x_size=2:y_size=3",
    "tripartite",
    "stochastic",
    "homa_cp_node",
    "feed_aggregator",
    "storage_service",
    "inference",
    "streaming:direction=echo",
    "collective:operation=all_reduce:algorithm=tree:ranks=5:chunks=2",
    "training:tensor_parallel=4",
};

TEST(PatternFuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& config : fuzzing::KeptCorpus("pattern")) {
    BuildAndCheck(config);
  }
}

TEST(PatternFuzzTest, SurvivesMutatedConfigs) {
  fuzzing::MessageMutator mutator(1);
  int built = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string config = kConfigs[round % std::size(kConfigs)];
    for (int i = 0; i < round % kMaxMutations; ++i) mutator.Mutate(config);
    built += BuildAndCheck(config);
  }
  // Otherwise only rejections would be tested.
  EXPECT_GT(built, kRounds / 10);
}

}  // namespace
}  // namespace distbench::test_builder
