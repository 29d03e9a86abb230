// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Calls back at points in time, accurate to tens of microseconds, for threads
// whose waits take no timeout of that precision.

#ifndef DISTBENCH_PROTOCOL_GRPC_QUEUE_WAKE_TIMER_H_
#define DISTBENCH_PROTOCOL_GRPC_QUEUE_WAKE_TIMER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
    // Waits for a running callback. It is not called afterwards.
    ~Alarm();

    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    // What to call; before the first Set(). It runs on the timer's thread and
    // should be short.
    void CallBack(std::function<void()> on_due);

    // Calls back once at this time of the monotonic clock, or at once if it has
    // passed. Replaces an earlier setting. Costs one system call.
    void Set(int64_t due_ns);

   private:
    friend class WakeTimer;

    Alarm(WakeTimer& timer, base::FileDescriptor timer_fd)
        : timer_(timer), timer_fd_(std::move(timer_fd)) {}

    WakeTimer& timer_;
    const base::FileDescriptor timer_fd_;
    std::function<void()> on_due_;  // guarded by the timer's mutex
  };

  // The error, of descriptors or threads that have run out, names the remedy.
  static absl::StatusOr<std::unique_ptr<WakeTimer>> Make();
  // Requires that all alarms have been destroyed.
  ~WakeTimer();

  WakeTimer(const WakeTimer&) = delete;
  WakeTimer& operator=(const WakeTimer&) = delete;

  // The timer must outlive the alarm. The error, of descriptors or watches that
  // have run out, names the remedy.
  absl::StatusOr<std::unique_ptr<Alarm>> NewAlarm();

 private:
  WakeTimer() = default;

  absl::Status Open();
  bool Watch(const base::FileDescriptor& fd, void* tag);
  void Run();
  void CallBack(Alarm* alarm);

  base::FileDescriptor epoll_;
  base::FileDescriptor stop_fd_;
  absl::Mutex mutex_;  // held while a callback runs
  absl::flat_hash_set<Alarm*> alarms_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_QUEUE_WAKE_TIMER_H_
