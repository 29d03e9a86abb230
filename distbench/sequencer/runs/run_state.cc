#include "distbench/sequencer/runs/run_state.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace distbench::sequencer {

void RunState::Start(int64_t unix_ns) {
  description_.set_state(RunDescription::RUNNING);
  description_.clear_queue_position();
  description_.set_start_timestamp_ns(unix_ns);
}

RunDescription RunState::Ended(const absl::Status& status,
                               int64_t unix_ns) const {
  RunDescription ended = description_;
  ended.set_state(FinalState(status));
  ended.clear_queue_position();
  if (ended.state() != RunDescription::INTERRUPTED) {
    ended.clear_current_test_index();
  }
  ended.set_end_timestamp_ns(unix_ns);
  if (!status.ok()) ended.set_message(std::string(status.message()));
  return ended;
}

RunDescription::State RunState::FinalState(const absl::Status& status) const {
  if (status.ok()) {
    return has_failed_test_ ? RunDescription::FAILED : RunDescription::DONE;
  }
  if (sequencer_ends_) {
    return description_.state() == RunDescription::WAITING
               ? RunDescription::CANCELLED
               : RunDescription::INTERRUPTED;
  }
  return absl::IsCancelled(status) ? RunDescription::CANCELLED
                                   : RunDescription::FAILED;
}

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

RunStatus::Totals RunStatus::TotalsWithRunning() const {
  if (!test_.has_value()) return ended_;
  const TrafficProgress& running = test_->progress;
  return {.succeeded_count = ended_.succeeded_count +
                             static_cast<double>(running.succeeded_count()),
          .failed_count =
              ended_.failed_count + static_cast<double>(running.failed_count()),
          .offered_count = ended_.offered_count +
                           static_cast<double>(running.offered_count())};
}

std::string TestName(const DistributedSystemDescription& test, int test_index) {
  if (!test.name().empty()) return test.name();
  const auto it = test.attributes().find("test_name");
  if (it != test.attributes().end() && !it->second.empty()) return it->second;
  return absl::StrCat("tests[", test_index, "]");
}

}  // namespace distbench::sequencer
