// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/result_assembler.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

RunTestsEvent Piece(int test_index) {
  RunTestsEvent event;
  event.set_test_index(test_index);
  ResultChunk& chunk = *event.mutable_result_chunk();
  chunk.set_instance("client/0");
  chunk.mutable_instance_log()->set_engine_error_message("enough");
  return event;
}

RunTestsEvent Finished(int test_index) {
  RunTestsEvent event;
  event.set_test_index(test_index);
  event.mutable_finished()->add_log_summary("summary");
  return event;
}

TEST(ResultAssemblerTest, PutsPiecesAndTheRestTogether) {
  TestSequenceResults results;
  ResultAssembler assembler(2, results);
  for (RunTestsEvent event : {Piece(0), Finished(0), Finished(1)}) {
    EXPECT_TRUE(assembler.Add(event).ok());
  }
  assembler.MarkIncomplete("lost");
  ASSERT_EQ(results.test_results_size(), 2);
  EXPECT_EQ(results.test_results(0).service_logs().instance_logs_size(), 1);
  EXPECT_THAT(results.test_results(0).log_summary(),
              testing::ElementsAre("summary"));
  for (const TestResult& result : results.test_results()) {
    EXPECT_FALSE(result.run_info().has_failure());
  }
}

TEST(ResultAssemblerTest, TestsThatDidNotEndAreIncomplete) {
  TestSequenceResults results;
  ResultAssembler assembler(2, results);
  for (RunTestsEvent event : {Finished(0), Piece(1)}) {
    EXPECT_TRUE(assembler.Add(event).ok());
  }
  assembler.MarkIncomplete("lost");
  EXPECT_FALSE(results.test_results(0).run_info().has_failure());
  EXPECT_EQ(results.test_results(1).run_info().failure(), "lost");
}

// As when the sequencer's disk took nothing of the first test. Who keeps
// results while the run goes on must not take it for one that ran.
TEST(ResultAssemblerTest, AResultIsIncompleteUntilItsTestHasEnded) {
  TestSequenceResults results;
  ResultAssembler assembler(3, results);
  for (RunTestsEvent event : {Finished(1), Piece(2)}) {
    EXPECT_TRUE(assembler.Add(event).ok());
  }
  ASSERT_EQ(results.test_results_size(), 3);
  EXPECT_TRUE(results.test_results(0).run_info().has_failure());
  EXPECT_FALSE(results.test_results(1).run_info().has_failure());
  EXPECT_TRUE(results.test_results(2).run_info().has_failure());
  RunTestsEvent failed = Finished(2);
  failed.mutable_finished()->mutable_run_info()->set_failure("node1 was lost");
  EXPECT_TRUE(assembler.Add(failed).ok());
  EXPECT_EQ(results.test_results(2).run_info().failure(), "node1 was lost");
}

TEST(ResultAssemblerTest, ARunHasNoOtherTests) {
  TestSequenceResults results;
  ResultAssembler assembler(1, results);
  for (RunTestsEvent event : {Finished(1), Finished(-1)}) {
    EXPECT_EQ(assembler.Add(event).code(), absl::StatusCode::kInternal);
  }
  EXPECT_EQ(results.test_results_size(), 0);
}

}  // namespace
}  // namespace distbench::results
