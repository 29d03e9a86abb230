// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The gRPC completion queue of one worker, which can wait for completions, for
// other threads, and for points in time.
//
// gRPC's timeouts are only accurate to a millisecond or two. So the worker
// waits at the queue without a timeout, a WakeTimer wakes it shortly before the
// deadline, and it spends the rest polling.
//
// A thread that waits at a completion queue helps to poll gRPC's sockets,
// including those of other queues, and hands on what it finds. So a worker that
// never started anything on its queue sleeps elsewhere.
//
// A thread that posts something while the worker sleeps runs it, and what
// follows from it, if the worker lends its turns (see Turn). Otherwise it
// wakes the worker.

#ifndef DISTBENCH_PROTOCOL_GRPC_QUEUE_EVENT_QUEUE_H_
#define DISTBENCH_PROTOCOL_GRPC_QUEUE_EVENT_QUEUE_H_

#include <grpc/grpc.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <semaphore>

#include "distbench/base/queues.h"
#include "distbench/base/timers.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/wake_timer.h"

namespace distbench::protocol {

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

// The tag of every operation on an EventQueue points to a Completion.
class Completion {
 public:
  // The operation is complete. `ok` is gRPC's verdict, or true for a posted
  // completion. Called on the thread that polls the queue or has its turn.
  virtual void OnComplete(bool ok, TransportEvents& events) = 0;

  Completion* next = nullptr;  // in use while it is posted

 protected:
  ~Completion() = default;
};

// Used by the thread that has the worker's turn, unless noted otherwise.
class EventQueue {
 public:
  // Completions per Poll(): enough to amortise the loop around it, and few
  // enough (some hundred microseconds of work) not to starve timers.
  static constexpr int kMaxCompletions = 64;

  // Polls for `spin_ns` before each wait. The alarm is a new one.
  EventQueue(std::unique_ptr<WakeTimer::Alarm> alarm, int64_t spin_ns);

  // Requires DrainForever(), unless nothing was ever started on the queue.
  ~EventQueue();

  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  // Returns the queue for starting an operation on it. Any thread may call it.
  grpc_completion_queue* get() {
    if (!in_use_.load(std::memory_order_relaxed)) in_use_ = true;
    return queue_;
  }

  // Runs a bounded number of completions. If there are none, waits for one, for
  // the time deadline_ns on the monotonic clock, or for Wake(). May return
  // early. Meanwhile other threads may run turns if `events` lends them.
  void Poll(int64_t deadline_ns, TransportEvents& events);

  // Makes the current or the next Poll() return early. Any thread may call it.
  void Wake();

  // Completes something in a turn of the worker, which the calling thread may
  // run itself. Any thread may call it that holds no lock. The completion may
  // run before this returns.
  void Post(Completion& completion);

  // As Transport::RunTurnOrWake().
  void RunTurnOrWake();

  // The worker's thread runs all turns itself from now on.
  void StopLending() { may_lend_ = false; }

  // Runs completions until no more can come. From then on, nothing may be
  // started on the queue or posted to it.
  void DrainForever(TransportEvents& events);

 private:
  grpc_event Next();

  // Waits for a completion, approximately until the deadline.
  grpc_event Wait(int64_t deadline_ns, int64_t now_ns, TransportEvents& events);
  grpc_event Block(int64_t deadline_ns, TransportEvents& events);
  grpc_event Sleep();
  grpc_event Spin(int64_t until_ns);
  // Sets the alarm for the deadline.
  void SetAlarm(int64_t deadline_ns);
  void OnAlarm();
  void StartWakeUp();

  // Returns whether other threads have brought work.
  bool has_work() const {
    return wake_pending_ || turn_wanted_ || !mailbox_.empty();
  }

  // Makes sure that a turn is run after work was brought.
  void RunTurns();
  // Returns whether the worker's thread may continue to sleep.
  bool RunBorrowedTurn();

  // Runs a bounded number of posted completions. Returns whether there were
  // any.
  bool RunPosted(TransportEvents& events);

  // Returns whether the event was a wake-up.
  bool Run(const grpc_event& event, TransportEvents& events);

  // Lets the queue end once it is empty. No other thread uses it from now on.
  void ShutDown();

  const int64_t spin_ns_;
  grpc_completion_queue* const queue_;
  // A call on which only empty batches are started. Each puts its tag into the
  // queue at once.
  grpc_call* const wake_call_;
  std::atomic<bool> in_use_ = false;
  // Whether the worker's thread sleeps at the queue or at wake_ups_.
  std::atomic<bool> sleeps_at_queue_ = false;
  std::counting_semaphore<> wake_ups_{0};

  // Whether Wake() was called. Then a wake-up is on its way, or a worker that
  // is awake will see this.
  std::atomic<bool> wake_pending_ = false;
  std::atomic<bool> turn_wanted_ = false;  // by RunTurnOrWake()

  base::MpscQueue<Completion> mailbox_;
  Completion* posted_ = nullptr;  // taken from the mailbox, not yet run
  std::atomic<int> posting_ = 0;  // threads inside Post() or RunTurnOrWake()

  Turn turn_;
  bool may_lend_ = true;
  // Deadline and events of the sleeping worker, for threads that run its turn.
  int64_t deadline_ns_ = 0;
  TransportEvents* events_ = nullptr;

  // The worker does not block if the alarm it waits for has gone off, and no
  // thread wakes a worker that is awake.
  std::atomic<bool> alarm_went_off_ = false;
  static constexpr int64_t kNoAlarm = -1;
  int64_t alarm_ns_ = kNoAlarm;  // the alarm's last setting
  base::WakeAhead ahead_;
  std::unique_ptr<WakeTimer::Alarm> alarm_;  // until ShutDown()
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_QUEUE_EVENT_QUEUE_H_
