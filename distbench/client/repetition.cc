#include "distbench/client/repetition.h"

namespace distbench::client {

TestSequence RepeatTests(const TestSequence& tests, int repetitions) {
  TestSequence repeated = tests;
  for (int i = 1; i < repetitions; ++i) {
    for (const DistributedSystemDescription& test : tests.tests()) {
      *repeated.add_tests() = test;
    }
  }
  return repeated;
}

void NumberRepetitions(int test_count, TestSequenceResults& results) {
  for (int i = 0; i < results.test_results_size(); ++i) {
    results.mutable_test_results(i)->mutable_run_info()->set_repetition(
        i / test_count);
  }
}

}  // namespace distbench::client
