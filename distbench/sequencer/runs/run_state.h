// The description and the progress of a run.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_STATE_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_STATE_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

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

// Whether the run is neither waiting nor running.
bool HasEnded(const RunDescription& run);

// The status that clients of an ended run receive.
absl::Status EndOf(const RunDescription& run);

// Messages that explain why a run's result is incomplete.
inline constexpr char kPiecesDropped[] =
    "its result needs more than the sequencer's --results_memory: only "
    "summaries were kept";
inline constexpr char kResultDropped[] =
    "its result was dropped to make room for later ones; the sequencer's "
    "--results_memory sets how much is kept, and with --results_dir all is";

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_STATE_H_
