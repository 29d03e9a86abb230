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
        absl::UnavailableError("the test sequencer was lost")}) {
    EXPECT_EQ(ExitCodeOfFailure(end, false), report::kExitRunFailed) << end;
  }
}

}  // namespace
}  // namespace distbench::cli
