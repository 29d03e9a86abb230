// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/test_output.h"

#include "absl/status/status.h"
#include "distbench/report/findings/findings.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

TEST(ExitCodeOfFailureTest, OnlyWhatWasRefusedIsWrongUsage) {
  // A test that failed before its traffic, such as one with unmet requirements.
  EXPECT_EQ(ExitCodeOfFailure(absl::OkStatus(), false), report::kExitUsage);
  for (const absl::Status& refusal :
       {absl::InvalidArgumentError("a wrong test"),
        absl::FailedPreconditionError("too few nodes"),
        absl::ResourceExhaustedError("the queue is full")}) {
    EXPECT_EQ(ExitCodeOfFailure(refusal, false), report::kExitUsage) << refusal;
    EXPECT_EQ(ExitCodeOfFailure(refusal, true), report::kExitRunFailed)
        << refusal;
  }
  for (const absl::Status& end :
       {absl::CancelledError("by a signal"),
        absl::AbortedError("the test sequencer is shutting down"),
        absl::DataLossError("the disk is full"),
        absl::UnavailableError("the test sequencer was lost"),
        absl::DeadlineExceededError("nothing listens at the target")}) {
    EXPECT_EQ(ExitCodeOfFailure(end, false), report::kExitRunFailed) << end;
  }
}

// By no more than this, an automatic pipeline tells a server that is down from
// a misspelt method.
TEST(ExitCodeOfFailuresTest, TellsAServerThatIsDownFromAWrongTest) {
  TestSequenceResults results;
  EXPECT_EQ(ExitCodeOfFailures(results), report::kExitUsage);
  RunInfo& misspelt = *results.add_test_results()->mutable_run_info();
  misspelt.set_failure("the server has no service Cahce");
  // As of an earlier version.
  EXPECT_EQ(ExitCodeOfFailures(results), report::kExitUsage);
  misspelt.set_failure_code(static_cast<int>(absl::StatusCode::kNotFound));
  EXPECT_EQ(ExitCodeOfFailures(results), report::kExitUsage);
  RunInfo& down = *results.add_test_results()->mutable_run_info();
  down.set_failure("cannot connect to peer");
  down.set_failure_code(static_cast<int>(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(ExitCodeOfFailures(results), report::kExitRunFailed);
}

}  // namespace
}  // namespace distbench::cli
