// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/referenced_files.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/reading/load.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ReferencedFilesTest : public testing::Test {
 protected:
  ReferencedFilesTest() {
    std::filesystem::create_directories(folder_ + "/parts");
  }

  void Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ + "/" + name) << content;
  }

  const std::string folder_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ReferencedFilesTest, RecordedArrivalsAreRead) {
  Write("times.txt", "0\n1\n3\n");
  Write("test.config", R"(
    tests {
      actions {
        name: "run"
        iterations {
          arrivals {
            superposed { recorded { file: "times.txt" } }
            superposed { recorded { file: "missing.txt" } }
            recorded { file: "times.txt" }
          }
        }
      }
    })");
  const auto sequence = LoadTestSequence(folder_ + "/test.config");
  EXPECT_THAT(std::string(sequence.status().message()),
              AllOf(HasSubstr("tests[0].actions[\"run\"].iterations.arrivals."
                              "superposed[1].recorded.file: cannot read"),
                    Not(HasSubstr("superposed[0]"))));
  Write("missing.txt", "5\n6\n8\n");
  auto whole = LoadTestSequence(folder_ + "/test.config");
  ASSERT_TRUE(whole.ok()) << whole.status();
  const Arrivals& arrivals = whole->tests(0).actions(0).iterations().arrivals();
  EXPECT_EQ(arrivals.recorded().times(), "0\n1\n3\n");
  EXPECT_EQ(arrivals.superposed(1).recorded().times(), "5\n6\n8\n");
  // Nothing is read again for a config that has everything.
  std::filesystem::remove_all(folder_);
  EXPECT_THAT(ReadReferencedFiles(folder_ + "/test.config", *whole), IsEmpty());
}

// A config of somebody else must not take along what it was not sent with.
TEST_F(ReferencedFilesTest, AreNotReadFromElsewhere) {
  Write("outside.csv", "user\nann\n");
  for (const std::string& file :
       {folder_ + "/outside.csv", std::string("../outside.csv"),
        std::string("parts/../../outside.csv")}) {
    auto sequence = base::FromText<TestSequence>(
        "tests { actions { iterations { arrivals { recorded { file: '" + file +
        "' } } } } }");
    const std::vector<Problem> problems =
        ReadReferencedFiles(folder_ + "/parts/test.config", sequence);
    ASSERT_THAT(problems, SizeIs(1));
    EXPECT_THAT(problems[0].message,
                HasSubstr("is outside of the folder of the config"));
    const Arrivals& arrivals =
        sequence.tests(0).actions(0).iterations().arrivals();
    EXPECT_EQ(arrivals.recorded().times(), "");
  }
}

}  // namespace
}  // namespace distbench::config
