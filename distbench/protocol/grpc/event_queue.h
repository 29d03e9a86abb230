// The gRPC completion queue of one worker, as a thing to wait at: for
// completions, for other threads, and for points in time.
//
// gRPC's own timeouts are good to a millisecond or two. So the queue is waited
// at without a timeout, and a WakeTimer wakes it shortly before the deadline;
// what is left then is spent polling.
//
// A thread that waits at a completion queue takes part in polling gRPC's
// sockets, also those of other queues, and hands on what it finds. So a worker
// whose queue nothing was ever started on sleeps elsewhere.
//
// Threads that post something while the worker sleeps run it, and what follows
// from it, if the worker lends its turns (see turn.h). Otherwise they wake it.

#ifndef DISTBENCH_PROTOCOL_GRPC_EVENT_QUEUE_H_
#define DISTBENCH_PROTOCOL_GRPC_EVENT_QUEUE_H_

#include <grpc/grpc.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <semaphore>

#include "distbench/base/mpsc_queue.h"
#include "distbench/base/wake_ahead.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/turn.h"
#include "distbench/protocol/grpc/wake_timer.h"

namespace distbench {

// What the tag of every operation on an EventQueue points to.
class Completion {
 public:
  // The operation is complete; `ok` is what gRPC says of it, and true for those
  // that were posted. On the thread that polls the queue or has its turn.
  virtual void OnComplete(bool ok, TransportEvents& events) = 0;

  Completion* next = nullptr;  // while it is posted

 protected:
  ~Completion() = default;
};

// Used by its worker's thread, or who has its turn, unless it says otherwise.
class EventQueue {
 public:
  // Polls for `spin_ns` before each wait. The timer must outlive the queue.
  EventQueue(WakeTimer& timer, int64_t spin_ns);

  // Requires DrainForever() or that nothing was ever started on the queue.
  ~EventQueue();

  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  // For those who start something on it. Any thread.
  grpc_completion_queue* get() {
    if (!in_use_.load(std::memory_order_relaxed)) in_use_ = true;
    return queue_;
  }

  // Runs what is complete, a bounded number of completions. If nothing is,
  // waits until something is, the monotonic clock reaches deadline_ns or Wake()
  // is called. May return early. Meanwhile other threads may run turns, if
  // `events` lends them.
  void Poll(int64_t deadline_ns, TransportEvents& events);

  // Makes the current or the next Poll() return early. Any thread.
  void Wake();

  // Completes something in a turn of the worker's, which may be run by the
  // calling thread. Any thread that holds no lock; the completion may run
  // before this returns.
  void Post(Completion& completion);

  // As Transport::RunTurnOrWake().
  void RunTurnOrWake();

  // From here on the worker's thread runs all turns itself.
  void StopLending() { may_lend_ = false; }

  // Runs completions until none can come any more. Nothing may be started on
  // the queue, or posted to it, from here on.
  void DrainForever(TransportEvents& events);

 private:
  grpc_event Next();

  // Waits for a completion until about the deadline.
  grpc_event Wait(int64_t deadline_ns, int64_t now_ns, TransportEvents& events);
  grpc_event Block(int64_t deadline_ns, TransportEvents& events);
  grpc_event Sleep();
  grpc_event Spin(int64_t until_ns);
  // Sets it for the deadline.
  void SetAlarm(int64_t deadline_ns);
  void OnAlarm();
  void StartWakeUp();

  // Whether other threads have brought something to do.
  bool has_work() const {
    return wake_pending_ || turn_wanted_ || !mailbox_.empty();
  }

  // Sees to it that a turn is run after something was brought.
  void RunTurns();
  // Returns whether the worker's thread may sleep on.
  bool RunBorrowedTurn();

  // Runs what was posted, a bounded number. Returns whether there was any.
  bool RunPosted(TransportEvents& events);

  // Returns whether the event was a wake-up.
  bool Run(const grpc_event& event, TransportEvents& events);

  // Lets the queue end once it is empty. From here on no other thread touches
  // it.
  void ShutDown();

  const int64_t spin_ns_;
  grpc_completion_queue* const queue_;
  // A call on which nothing but empty batches are started: each puts its tag
  // into the queue at once.
  grpc_call* const wake_call_;
  std::atomic<bool> in_use_ = false;
  // Where the worker's thread sleeps: at the queue, or until it is woken.
  std::atomic<bool> sleeps_at_queue_ = false;
  std::counting_semaphore<> wake_ups_{0};

  // Whether somebody has called Wake(): then a wake-up is on its way, or will
  // be seen by a worker that is awake.
  std::atomic<bool> wake_pending_ = false;
  std::atomic<bool> turn_wanted_ = false;  // by RunTurnOrWake()

  MpscQueue<Completion> mailbox_;
  Completion* posted_ = nullptr;  // taken from the mailbox, not run yet
  std::atomic<int> posting_ = 0;  // threads inside Post() or RunTurnOrWake()

  Turn turn_;
  bool may_lend_ = true;
  // What the worker's thread sleeps for, and on whose behalf.
  int64_t deadline_ns_ = 0;
  TransportEvents* events_ = nullptr;

  // The worker does not block while the alarm that it waits for has gone off;
  // nobody wakes a worker that is awake.
  std::atomic<bool> alarm_went_off_ = false;
  static constexpr int64_t kNoAlarm = -1;
  int64_t alarm_ns_ = kNoAlarm;  // what it was set to last
  WakeAhead ahead_;
  std::optional<WakeTimer::Alarm> alarm_;  // until ShutDown()
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_EVENT_QUEUE_H_
