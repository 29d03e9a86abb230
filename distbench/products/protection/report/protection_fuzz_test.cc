// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Reports of experiments survive whatever is in their results.

#include "distbench/fuzzing/message_mutator.h"
#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "distbench/report/testing/result_fuzz_entry.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

constexpr int kRounds = 1000;
constexpr int kMaxMutations = 4;

TEST(ProtectionFuzzTest, SurvivesMutatedExperiments) {
  constexpr int kExperimentRounds = 300;
  const TestSequenceResults original = MakeExampleExperiment();
  fuzzing::MessageMutator mutator(
      3, {"client/0", "antagonist_hog/0", "p99<=20ms"});
  int readable = 0;
  for (int round = 0; round < kExperimentRounds; ++round) {
    TestSequenceResults results = original;
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(results);
    readable += report::ReadAndReport(results.SerializePartialAsString());
  }
  EXPECT_GT(readable, kExperimentRounds / 2);
}

// Whatever the phases and the records say.
TEST(ProtectionFuzzTest, SurvivesHostileCells) {
  const TestSequenceResults original = ResultsOf({SteadyRun(3, 1'000'000)});
  fuzzing::MessageMutator mutator(4, {"client/0", "antagonist_hog/0"});
  for (int round = 0; round < kRounds; ++round) {
    TestSequenceResults results = original;
    TestResult& result = *results.mutable_test_results(0);
    mutator.Mutate(*result.mutable_experiment_cell());
    mutator.Mutate(*result.mutable_service_logs());
    report::ReadAndReport(results.SerializePartialAsString());
  }
}

}  // namespace
}  // namespace distbench::protection
