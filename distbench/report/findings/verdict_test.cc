#include "distbench/report/findings/verdict.h"

#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

int ExitCodeOf(const std::string& text, bool allow_invalid = false) {
  const auto results = base::FromText<TestSequenceResults>(text);
  return ExitCodeFor(results, allow_invalid);
}

TEST(VerdictTest, TestsThatRanToTheirEndAreFine) {
  EXPECT_EQ(ExitCodeOf("test_results {} test_results { run_info {} }"), 0);
}

TEST(VerdictTest, NotesAndWarningsAreFine) {
  EXPECT_EQ(ExitCodeOf(R"(test_results {
                            run_info {
                              findings { severity: NOTE }
                              findings { severity: WARN }
                            }
                          })"),
            0);
}

TEST(VerdictTest, AnyFailureCounts) {
  EXPECT_EQ(ExitCodeOf(R"(test_results {}
                          test_results { run_info { failure: "" } }
                          test_results {})"),
            3);
}

TEST(VerdictTest, AnyInvalidFindingCounts) {
  EXPECT_EQ(ExitCodeOf(R"(test_results {}
                          test_results {
                            run_info {
                              findings { severity: NOTE }
                              findings { severity: INVALID }
                            }
                          })"),
            3);
}

TEST(VerdictTest, WhatIsInvalidMayBeAllowedButNotAFailure) {
  EXPECT_EQ(ExitCodeOf("test_results { run_info { findings { "
                       "severity: INVALID } } }",
                       /*allow_invalid=*/true),
            0);
  EXPECT_EQ(ExitCodeOf("test_results { run_info { failure: '' findings { "
                       "severity: INVALID } } }",
                       /*allow_invalid=*/true),
            3);
}

}  // namespace
}  // namespace distbench::report
