// SIGINT and SIGTERM as requests to stop.

#ifndef DISTBENCH_BASE_STOP_SIGNALS_H_
#define DISTBENCH_BASE_STOP_SIGNALS_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/wakeup.h"

namespace distbench {

// The first signal is a request, which Wait() and a handler pass on; the second
// one ends the process at once. Also where a program that was started in the
// background is told to ignore SIGINT, it stops on SIGINT.
//
// At most one at a time, made before the process has other threads, as threads
// inherit which signals they leave to it. Its methods are thread-safe.
class StopSignals {
 public:
  // exit_code: the process's, on the second signal.
  explicit StopSignals(int exit_code);

  // Gives the signals back.
  ~StopSignals();

  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Blocks until a stop is requested.
  void Wait() ABSL_LOCKS_EXCLUDED(mutex_);

  bool requested() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Requests a stop for a reason of the program's own.
  void Request() ABSL_LOCKS_EXCLUDED(mutex_);

  // What to do about the request, at once if it has come already: once, on the
  // thread that requests it. Replaces the handler before; {} for none. When it
  // returns, the handler before has either ended or will never run. A handler
  // calls no method of this class.
  void SetHandler(std::function<void()> handler) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Listen();

  const int exit_code_;
  mutable absl::Mutex mutex_;
  bool requested_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> handler_ ABSL_GUARDED_BY(mutex_);
  const int signal_fd_;
  Wakeup end_of_listening_;
  std::thread listener_;
};

}  // namespace distbench

#endif  // DISTBENCH_BASE_STOP_SIGNALS_H_
