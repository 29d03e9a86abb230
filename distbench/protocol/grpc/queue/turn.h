// Determines which thread runs a worker's turns: its own, or, while that
// sleeps, any thread that brings it something to do. Waking a thread costs
// several times as much as handling most events, and the thread that brings an
// event is awake already.
//
// Only one thread has the turn at a time, so what it uses needs no lock. Before
// its thread sleeps, the worker says whether the turn may be borrowed.
//
//   worker: Sleep() ▸ looks for something to do ▸ sleeps ▸ TakeBack()
//   others: bring something ▸ TryBorrow() ▸ run the turn ▸ GiveBack() ▸ look
//           again, because they must also run what was brought meanwhile
//
// All accesses are sequentially consistent. A thread that brings something and
// finds the worker awake, or the turn borrowed, can rely on being noticed.
//
// With a list of one action for each request and 100 in flight, borrowed turns
// raised the rate 1.80 times with client and server types polling/polling, 1.67
// with polling/handoff, 1.58 with callback/polling and 1.60 with
// callback/handoff; with one in flight, 1.08 to 1.31 times. With
// callback/inline and one in flight it is 0.92 times: the worker takes part in
// gRPC's polling, and hands what it finds to gRPC's threads. The rest of what
// callbacks cost is gRPC's own, two of whose threads take turns at polling, so
// that each event wakes two.

#ifndef DISTBENCH_PROTOCOL_GRPC_QUEUE_TURN_H_
#define DISTBENCH_PROTOCOL_GRPC_QUEUE_TURN_H_

#include <atomic>

namespace distbench::protocol {

class Turn {
 public:
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // For the worker's thread:

  // Is about to sleep, unless it finds something to do after this.
  void Sleep(bool lends) { state_ = lends ? State::kLending : State::kAsleep; }

  // Is awake. Waits while the turn is borrowed; it cannot be borrowed
  // afterwards.
  void TakeBack();

  // For other threads:

  bool worker_is_awake() const { return state_ == State::kAwake; }

  // Returns whether the worker sleeps and must be woken.
  bool must_wake_worker() const { return state_ == State::kAsleep; }

  // Takes the turn if the worker lends it and no other thread has it.
  [[nodiscard]] bool TryBorrow() {
    State expected = State::kLending;
    return state_.compare_exchange_strong(expected, State::kBorrowed);
  }

  void GiveBack();

 private:
  enum class State : int {
    kAwake,      // the worker's thread has the turn
    kAsleep,     // no thread has it
    kLending,    // no thread has it, and others may take it
    kBorrowed,   // another thread has it
    kWaitedFor,  // another thread has it, and the worker's thread waits for it
  };

  std::atomic<State> state_ = State::kAwake;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_QUEUE_TURN_H_
