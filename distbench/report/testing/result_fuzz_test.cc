// A result file with any content must be rejected, or all reports must render.

#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/report/testing/example_experiment.h"
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

TEST(ResultFuzzTest, SurvivesMutatedExperiments) {
  constexpr int kExperimentRounds = 300;
  const TestSequenceResults original = MakeExampleExperiment();
  MessageMutator mutator(3, {"client/0", "antagonist_hog/0", "p99<=20ms"});
  int readable = 0;
  for (int round = 0; round < kExperimentRounds; ++round) {
    TestSequenceResults results = original;
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(results);
    readable += ReadAndReport(results.SerializePartialAsString());
  }
  EXPECT_GT(readable, kExperimentRounds / 2);
}

// Whatever the phases and the records say.
TEST(ResultFuzzTest, SurvivesHostileCells) {
  const TestSequenceResults original = ResultsOf({SteadyRun(3, 1'000'000)});
  MessageMutator mutator(4, {"client/0", "antagonist_hog/0"});
  for (int round = 0; round < kRounds; ++round) {
    TestSequenceResults results = original;
    TestResult& result = *results.mutable_test_results(0);
    mutator.Mutate(*result.mutable_experiment_cell());
    mutator.Mutate(*result.mutable_service_logs());
    ReadAndReport(results.SerializePartialAsString());
  }
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
