// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// SIGINT and SIGTERM as requests to stop.

#ifndef DISTBENCH_BASE_STOP_SIGNALS_H_
#define DISTBENCH_BASE_STOP_SIGNALS_H_

#include <sys/types.h>

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/wakeup.h"

namespace distbench::base {

// The value with which a process passes on a signal to its child
// (ChildProcess::PassOn()).
inline constexpr int kPassedOnSignal = 0x64627061;

// Handles SIGINT and SIGTERM. The first signal is a request, reported through
// Wait() and a handler; the second ends the process at once. A signal that the
// parent passed on is no second one, because schedulers send theirs to a
// process and to its children, and the parent then passes on what both have
// got. Neither is a signal that tells of the parent's death
// (ChildProgram::ends_with_parent), which the kernel may send for each of the
// parent's threads. SIGINT works even in a program that was started in the
// background and therefore ignores it by default.
//
// At most one instance at a time, made before the process has other threads,
// because threads inherit the signal mask. Its methods are thread-safe.
class StopSignals {
 public:
  // exit_code: exit code of the process on the second signal.
  explicit StopSignals(int exit_code);

  // Unblocks the signals.
  ~StopSignals();

  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Blocks until a stop is requested.
  void Wait() ABSL_LOCKS_EXCLUDED(mutex_);

  bool requested() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Requests a stop for a reason other than a signal.
  void Request() ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets what to do about the request; {} for nothing. It runs once, on the
  // thread that requests the stop, or at once if the request has already come.
  // Replaces the previous handler, which has either ended or will never run
  // when this returns. A handler must not call methods of this class.
  void SetHandler(std::function<void()> handler) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Listen();

  const int exit_code_;
  const pid_t parent_;
  const int death_signal_;  // of the parent's death; 0 for none
  mutable absl::Mutex mutex_;
  bool requested_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> handler_ ABSL_GUARDED_BY(mutex_);
  const int signal_fd_;
  Wakeup end_of_listening_;
  std::thread listener_;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_STOP_SIGNALS_H_
