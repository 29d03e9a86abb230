// The gRPC completion queue of one worker, as a thing to wait at: for
// completions, for other threads, and for points in time.
//
// gRPC's own timeouts are good to a millisecond or two. So the queue is waited
// at without a timeout, and a WakeTimer wakes it shortly before the deadline;
// what is left then is spent polling.

#ifndef DISTBENCH_PROTOCOL_GRPC_EVENT_QUEUE_H_
#define DISTBENCH_PROTOCOL_GRPC_EVENT_QUEUE_H_

#include <grpc/grpc.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "distbench/base/mpsc_queue.h"
#include "distbench/base/wake_ahead.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/wake_timer.h"

namespace distbench {

// What the tag of every operation on an EventQueue points to.
class Completion {
 public:
  // The operation is complete; `ok` is what gRPC says of it, and true for those
  // that were posted. On the thread that polls the queue.
  virtual void OnComplete(bool ok, TransportEvents& events) = 0;

  Completion* next = nullptr;  // while it is posted

 protected:
  ~Completion() = default;
};

// Used by its worker's thread, but for Post() and Wake().
class EventQueue {
 public:
  // Polls for `spin_ns` before each wait. The timer must outlive the queue.
  EventQueue(WakeTimer& timer, int64_t spin_ns);

  // Requires DrainForever() or that nothing was ever started on the queue.
  ~EventQueue();

  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  grpc_completion_queue* get() const { return queue_; }

  // Runs what is complete, a bounded number of completions. If nothing is,
  // waits until something is, the monotonic clock reaches deadline_ns or Wake()
  // is called. May return early.
  void Poll(int64_t deadline_ns, TransportEvents& events);

  // Makes the current or the next Poll() return early. Any thread.
  void Wake();

  // Completes something on the worker's thread, which is woken if it waits. Any
  // thread; the completion may run before this returns.
  void Post(Completion& completion);

  // Runs completions until none can come any more. Nothing may be started on
  // the queue, or posted to it, from here on.
  void DrainForever(TransportEvents& events);

 private:
  // Waits for a completion until about the deadline.
  grpc_event Wait(int64_t deadline_ns, int64_t now_ns);
  grpc_event Block(int64_t deadline_ns);
  grpc_event Spin(int64_t until_ns);
  void SetAlarm(int64_t due_ns);
  void OnAlarm();

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
  // Whether a wake-up is in the queue.
  std::atomic<bool> wake_pending_ = false;

  MpscQueue<Completion> mailbox_;
  Completion* posted_ = nullptr;  // taken from the mailbox, not run yet
  std::atomic<int> posting_ = 0;  // threads inside Post()

  // The worker does not block while the alarm that it waits for has gone off;
  // nobody wakes a worker that is awake.
  std::atomic<bool> blocked_ = false;
  std::atomic<bool> alarm_went_off_ = false;
  static constexpr int64_t kNoAlarm = -1;
  int64_t alarm_ns_ = kNoAlarm;  // what it was set to last
  WakeAhead ahead_;
  std::optional<WakeTimer::Alarm> alarm_;  // until ShutDown()
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_EVENT_QUEUE_H_
