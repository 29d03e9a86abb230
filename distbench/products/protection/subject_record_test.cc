// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/subject_record.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/products/protection/testing/example_experiment.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

std::string Node(int number, const std::string& host, int cpus,
                 const std::string& allowed_cpus = "") {
  return absl::StrCat("nodes { config { node_alias: 'node", number,
                      "' } registration { hostname: '", host,
                      "' cpu_count: ", cpus, " topology { allowed_cpus: '",
                      allowed_cpus, "' } } }");
}

int WorkersWith(const std::string& nodes) {
  // client/0, server/0 and server/1.
  return WorkersOfSubject(ExampleTest(""),
                          base::FromText<GetStatusResponse>(nodes));
}

TEST(SubjectWorkersTest, AHostsCpusAreSharedByItsInstances) {
  EXPECT_EQ(WorkersWith(Node(0, "a", 16) + Node(1, "b", 16) + Node(2, "c", 16)),
            16);
  EXPECT_EQ(WorkersWith(Node(0, "a", 16) + Node(1, "a", 16) + Node(2, "a", 16)),
            5);
  EXPECT_EQ(WorkersWith(Node(0, "a", 16) + Node(1, "b", 16) + Node(2, "b", 16)),
            8);
}

TEST(SubjectWorkersTest, NodesThatAreBoundToOtherCpusShareNothing) {
  EXPECT_EQ(WorkersWith(Node(0, "a", 8, "0-7") + Node(1, "a", 8, "8-15") +
                        Node(2, "b", 8, "0-7")),
            8);
}

TEST(SubjectWorkersTest, TheSmallestHostDecidesAndIdleOnesDoNot) {
  EXPECT_EQ(WorkersWith(Node(0, "a", 16) + Node(1, "b", 4) + Node(2, "c", 8) +
                        Node(3, "d", 1)),
            4);
}

// Whoever wrote the result: an overload may be told without words.
TEST(WhyUnusableTest, AnOverloadBeforeTheAntagonistIsAnEarlyEnd) {
  TestResult result = base::FromText<TestResult>(
      "run_info { start_timestamp_ns: 10 end_timestamp_ns: 20 } "
      "experiment_cell { interfere_start_timestamp_ns: 20 }");
  EXPECT_EQ(WhyUnusable(result), "");
  result.mutable_run_info()->set_overloaded(true);
  EXPECT_EQ(WhyUnusable(result), "");
  result.mutable_run_info()->set_end_timestamp_ns(19);
  EXPECT_EQ(WhyUnusable(result),
            "it ended before the antagonist began: it reached one of its "
            "overload_limits");
}

TEST(SubjectWorkersTest, IsAtLeastOne) {
  EXPECT_EQ(WorkersWith(""), 1);
  EXPECT_EQ(WorkersWith(Node(0, "a", 2) + Node(1, "a", 2) + Node(2, "a", 2)),
            1);
}

}  // namespace
}  // namespace distbench::protection
