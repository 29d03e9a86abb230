// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/client/test_client.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::client {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Explain(const absl::Status& error) {
  const absl::Status explained =
      ExplainConnectionError(error, "host1:10000", absl::Seconds(5));
  EXPECT_EQ(explained.code(), error.code());
  return std::string(explained.message());
}

TEST(ConnectionErrorTest, SaysWhatToCheck) {
  EXPECT_THAT(
      Explain(absl::UnavailableError(
          "failed to connect to all addresses; last error: UNKNOWN: "
          "ipv4:127.0.0.1:10000: Failed to connect to remote host: "
          "Connection refused")),
      AllOf(HasSubstr("nothing listens at host1:10000"), HasSubstr("port?")));
  EXPECT_THAT(Explain(absl::UnavailableError(
                  "DNS resolution failed for host1:10000: not found")),
              AllOf(HasSubstr("host1:10000"), HasSubstr("name")));
  EXPECT_THAT(
      Explain(absl::DeadlineExceededError("Deadline Exceeded")),
      AllOf(HasSubstr("host1:10000"), HasSubstr("5s"), HasSubstr("firewall")));
  EXPECT_THAT(
      Explain(absl::UnimplementedError("")),
      AllOf(HasSubstr("host1:10000"), HasSubstr("another implementation")));
  EXPECT_THAT(Explain(absl::InternalError("strange")),
              AllOf(HasSubstr("host1:10000"), HasSubstr("strange")));
}

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
