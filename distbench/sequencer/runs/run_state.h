// The description and the progress of a run.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_STATE_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_STATE_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "proto/control.pb.h"

namespace distbench {

// Follows a run from its submission to its end. Thread-compatible.
class RunState {
 public:
  explicit RunState(RunDescription description)
      : description_(std::move(description)) {}

  const RunDescription& description() const { return description_; }

  void SetQueuePosition(int ahead) { description_.set_queue_position(ahead); }
  void Start(int64_t unix_ns);
  void SetUpTest(int test_index) {
    description_.set_current_test_index(test_index);
  }
  void FinishTest(bool is_good) { has_failed_test_ |= !is_good; }

  // If the run fails from now on, the end of the sequencer is given as the
  // reason.
  void SequencerEnds() { sequencer_ends_ = true; }

  // Returns the description of the run if it ended now with this status.
  RunDescription Ended(const absl::Status& status, int64_t unix_ns) const;

 private:
  RunDescription::State FinalState(const absl::Status& status) const;

  RunDescription description_;
  bool has_failed_test_ = false;
  bool sequencer_ends_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_STATE_H_
