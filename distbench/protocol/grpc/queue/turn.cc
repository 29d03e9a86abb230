#include "distbench/protocol/grpc/queue/turn.h"

namespace distbench::protocol {

void Turn::TakeBack() {
  State seen = state_;
  while (seen != State::kAwake) {
    if (seen == State::kWaitedFor) {
      state_.wait(seen);
      seen = state_;
      continue;
    }
    const State wanted =
        seen == State::kBorrowed ? State::kWaitedFor : State::kAwake;
    if (state_.compare_exchange_strong(seen, wanted)) seen = wanted;
  }
}

void Turn::GiveBack() {
  State expected = State::kBorrowed;
  if (state_.compare_exchange_strong(expected, State::kLending)) return;
  state_ = State::kAwake;
  state_.notify_one();
}

}  // namespace distbench::protocol
