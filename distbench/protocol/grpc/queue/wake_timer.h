// Calls back at points in time, accurate to tens of microseconds, for threads
// whose waits take no timeout of that precision.

#ifndef DISTBENCH_PROTOCOL_GRPC_QUEUE_WAKE_TIMER_H_
#define DISTBENCH_PROTOCOL_GRPC_QUEUE_WAKE_TIMER_H_

#include <cstdint>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/files.h"

namespace distbench::protocol {

// Has one thread, which sleeps unless an alarm is due. Thread-safe.
class WakeTimer {
 public:
  // A callback at one time. Its methods are called by one thread at a time, and
  // not from its own callback.
  class Alarm {
   public:
    // `on_due` runs on the timer's thread and should be short.
    Alarm(WakeTimer& timer, std::function<void()> on_due);

    // Waits for a running callback. It is not called afterwards.
    ~Alarm();

    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    // Calls back once at this time of the monotonic clock, or at once if it has
    // passed. Replaces an earlier setting. Costs one system call.
    void Set(int64_t due_ns);

   private:
    friend class WakeTimer;

    WakeTimer& timer_;
    const std::function<void()> on_due_;
    const base::FileDescriptor timer_fd_;
  };

  WakeTimer();
  // Requires that all alarms have been destroyed.
  ~WakeTimer();

  WakeTimer(const WakeTimer&) = delete;
  WakeTimer& operator=(const WakeTimer&) = delete;

 private:
  void Run();
  void CallBack(Alarm* alarm);

  const base::FileDescriptor epoll_;
  const base::FileDescriptor stop_fd_;
  absl::Mutex mutex_;  // held while a callback runs
  absl::flat_hash_set<Alarm*> alarms_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_QUEUE_WAKE_TIMER_H_
