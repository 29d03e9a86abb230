// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_state.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/results/message_sums.h"

namespace distbench::sequencer {

bool HasEnded(const RunDescription& run) {
  return run.state() != RunDescription::WAITING &&
         run.state() != RunDescription::RUNNING;
}

absl::Status EndOf(const RunDescription& run) {
  switch (run.state()) {
    case RunDescription::CANCELLED:
      return absl::CancelledError(run.message());
    case RunDescription::INTERRUPTED:
    case RunDescription::UNKNOWN:
      return absl::AbortedError(run.message());
    case RunDescription::FAILED:
      // Failed tests report their own errors.
      if (run.message().empty()) return absl::OkStatus();
      // Unless it was refused, it was ended early, or part of its result is
      // lost.
      return run.has_start_timestamp_ns()
                 ? absl::AbortedError(run.message())
                 : absl::FailedPreconditionError(run.message());
    case RunDescription::DONE:
      if (run.message().empty()) return absl::OkStatus();
      return absl::DataLossError(
          absl::StrCat("run ", run.id(), ": ", run.message()));
    case RunDescription::WAITING:
    case RunDescription::RUNNING:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

void AddSentence(const std::string& sentence, RunDescription& run) {
  if (sentence.empty()) return;
  if (!run.message().empty()) run.mutable_message()->append("; ");
  run.mutable_message()->append(sentence);
}

TrafficProgress RunStatus::TotalsWithRunning() const {
  TrafficProgress totals = ended_;
  if (test_.has_value()) results::AddProgress(test_->progress, totals);
  return totals;
}

std::string TestName(const DistributedSystemDescription& test, int test_index) {
  std::string name = config::NameOf(test);
  return name.empty() ? absl::StrCat("tests[", test_index, "]") : name;
}

}  // namespace distbench::sequencer
