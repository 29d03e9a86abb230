#include "distbench/client/repetition.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::client {
namespace {

using ::testing::ElementsAre;

TestSequence TwoTests() {
  TestSequence tests;
  tests.add_tests()->set_name("a");
  tests.add_tests()->set_name("b");
  tests.mutable_tests_setting()->set_shutdown_after_tests(true);
  return tests;
}

std::vector<std::string> Names(const TestSequence& tests) {
  std::vector<std::string> names;
  for (const auto& test : tests.tests()) names.push_back(test.name());
  return names;
}

TEST(RepetitionTest, TestsAreInterleaved) {
  const TestSequence repeated = RepeatTests(TwoTests(), 3);
  EXPECT_THAT(Names(repeated), ElementsAre("a", "b", "a", "b", "a", "b"));
  EXPECT_TRUE(repeated.tests_setting().shutdown_after_tests());
}

TEST(RepetitionTest, OnceIsTheSequenceItself) {
  EXPECT_THAT(Names(RepeatTests(TwoTests(), 1)), ElementsAre("a", "b"));
}

TEST(RepetitionTest, ResultsAreNumberedAsFarAsTheyCame) {
  TestSequenceResults results;
  for (int i = 0; i < 5; ++i) results.add_test_results();
  NumberRepetitions(2, results);
  std::vector<int> repetitions;
  for (const TestResult& result : results.test_results()) {
    repetitions.push_back(result.run_info().repetition());
  }
  EXPECT_THAT(repetitions, ElementsAre(0, 0, 1, 1, 2));
}

}  // namespace
}  // namespace distbench::client
