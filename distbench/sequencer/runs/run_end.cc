#include "distbench/sequencer/runs/run_end.h"

namespace distbench {

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
      return absl::FailedPreconditionError(run.message());
    case RunDescription::DONE:
    case RunDescription::WAITING:
    case RunDescription::RUNNING:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace distbench
