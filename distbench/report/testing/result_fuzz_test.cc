// A result file with any content must be rejected, or all reports must render.

#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/result_fuzz_entry.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench {
namespace {

constexpr int kRounds = 1000;
constexpr int kMaxMutations = 4;

TestSequenceResults SmallResults() {
  TestSequenceResults results;
  *results.add_test_results() = MakeExampleResult(
      {.clients = 1, .servers = 1, .rpcs = 1, .seconds = 2, .count = 5});
  return results;
}

TEST(ResultFuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& bytes : KeptCorpus("result")) ReadAndReport(bytes);
}

TEST(ResultFuzzTest, SurvivesMutatedResults) {
  const TestSequenceResults original = SmallResults();
  MessageMutator mutator(1, {"client/0", "server/0", "node0"});
  int readable = 0;
  for (int round = 0; round < kRounds; ++round) {
    TestSequenceResults results = original;
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(results);
    readable += ReadAndReport(results.SerializePartialAsString());
  }
  // Otherwise only reading would be tested.
  EXPECT_GT(readable, kRounds / 2);
}

TEST(ResultFuzzTest, SurvivesMutatedBytes) {
  const std::string original = SmallResults().SerializeAsString();
  MessageMutator mutator(2);
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = original;
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(bytes);
    ReadAndReport(bytes);
  }
}

}  // namespace
}  // namespace distbench
