// Who runs a worker's turns: its own thread, or, while that sleeps, whoever
// brings it something to do. Waking a thread costs several times what most
// events cost to handle, and the one that brings an event is awake already.
//
// One thread at a time has the turn, so what it touches needs no lock. Before
// its thread sleeps the worker says whether the turn may be borrowed meanwhile.
//
//   worker: Sleep() ▸ looks for something to do ▸ sleeps ▸ TakeBack()
//   others: bring something ▸ TryBorrow() ▸ run the turn ▸ GiveBack() ▸ look
//           again: it is theirs what was brought meanwhile
//
// All accesses are sequentially consistent: whoever brings something and finds
// the worker awake, or the turn borrowed, may rely on being noticed.

#ifndef DISTBENCH_PROTOCOL_GRPC_TURN_H_
#define DISTBENCH_PROTOCOL_GRPC_TURN_H_

#include <atomic>

namespace distbench {

class Turn {
 public:
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // The worker's thread.

  // It is about to sleep, unless it finds something to do after this.
  void Sleep(bool lends) { state_ = lends ? State::kLending : State::kAsleep; }

  // It is awake. Waits while the turn is borrowed; nobody borrows it after
  // that.
  void TakeBack();

  // Other threads.

  bool worker_is_awake() const { return state_ == State::kAwake; }

  // Whether the worker sleeps and has to be woken.
  bool must_wake_worker() const { return state_ == State::kAsleep; }

  // Takes the turn if the worker lends it and nobody else has it.
  [[nodiscard]] bool TryBorrow() {
    State expected = State::kLending;
    return state_.compare_exchange_strong(expected, State::kBorrowed);
  }

  void GiveBack();

 private:
  enum class State : int {
    kAwake,      // the worker's thread has the turn
    kAsleep,     // nobody has it
    kLending,    // nobody has it, others may take it
    kBorrowed,   // another thread has it
    kWaitedFor,  // likewise, and the worker's thread waits for it
  };

  std::atomic<State> state_ = State::kAwake;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_TURN_H_
