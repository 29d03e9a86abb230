// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// An engine process as the node manager that started it sees it.

#ifndef DISTBENCH_HOSTING_ENGINE_PROCESS_H_
#define DISTBENCH_HOSTING_ENGINE_PROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/hosting/engine_control.pb.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_messages.h"

namespace distbench::hosting {

// The control group (version 2) of an engine's process, as far as the kernel
// may kill the process for its memory.

// Also usable after the group was removed; nothing is known from then on.
class MemoryGroup {
 public:
  // `folder`: a descriptor of the group's folder, needed during the call only;
  // negative for a process without a group of its own.
  static MemoryGroup Open(int folder);

  // How many processes of the group the kernel has killed because memory was
  // exhausted, that of the group or of one above it. 0 if unknown.
  int64_t OomKills() const;

  // The tightest limit of the group and of those above it, when it was opened:
  // "whose memory.max is 512MiB", or "which has no memory.max".
  const std::string& DescribeLimit() const { return limit_; }

 private:
  MemoryGroup(base::FileDescriptor events, std::string limit);

  base::FileDescriptor events_;  // memory.events; closed if there is none
  std::string limit_;
};

// Receives what an engine reports on its own initiative, on a thread of the
// process's owner.
class EngineListener {
 public:
  virtual ~EngineListener() = default;

  // Its progress, an overload, or that it has finished.
  virtual void OnReport(const EngineReport& report) = 0;

  // The process has ended unexpectedly. This is the last call.
  virtual void OnLost(const absl::Status& status) = 0;
};

// An engine process. Thread-safe, except that one thread at a time may use
// Call().
class EngineProcess {
 public:
  // The time between calls of Beat(), and how many of them a process may let
  // pass without an answer.
  static constexpr absl::Duration kBeatInterval = absl::Milliseconds(500);
  static constexpr int kMaxSilentBeats = 8;

  struct Start {
    // What is run; empty: this program again.
    std::string program = {};

    // Whether it warms up first.
    bool is_warm = false;

    // As in EngineRequest.
    int group = -1;
  };

  // Starts a program as a child that runs the subcommand `engine`. It inherits
  // the binding of the calling thread, and is killed when that thread ends.
  // RESOURCE_EXHAUSTED if no more processes or threads are allowed.
  static absl::StatusOr<std::unique_ptr<EngineProcess>> Launch(
      const Start& start, const EngineLimits& limits);

  // Ends the process, by force if it does not end by itself within a few
  // seconds.
  ~EngineProcess();

  EngineProcess(const EngineProcess&) = delete;
  EngineProcess& operator=(const EngineProcess&) = delete;

  pid_t pid() const { return process_.pid(); }

  // End() tells the process to end; Kill() kills it. Neither waits.
  void End() { socket_.CloseForSending(); }
  void Kill() const { process_.Signal(SIGKILL); }
  bool has_ended() const { return process_.HasEnded(absl::ZeroDuration()); }

  // False once the end of the process was noticed.
  bool is_alive() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Add() returns the number of a new engine, whose reports the listener
  // receives until Forget(). Forget() waits for a running call of the listener.
  int Add(EngineListener& listener) ABSL_LOCKS_EXCLUDED(listeners_mutex_);
  void Forget(int engine) ABSL_LOCKS_EXCLUDED(listeners_mutex_);

  // Sends a command and waits for the answer. If the process was lost, the
  // error says how it ended.
  absl::StatusOr<EngineReport> Call(const EngineCommand& command)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Sends a command that has no answer.
  void Send(const EngineCommand& command) { socket_.Send(command); }

  // Same as Send(), but returns false instead of waiting for another thread.
  bool TrySend(const EngineCommand& command) {
    return socket_.TrySend(command);
  }

  // Call this every kBeatInterval while the process has engines. It asks for
  // their progress, and kills the process if that has not answered for too
  // long.
  void Beat() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  EngineProcess(base::ChildProcess process, base::FileDescriptor socket,
                MemoryGroup group);

  // These run on the reader thread.
  void Read() ABSL_LOCKS_EXCLUDED(mutex_);
  void Dispatch(EngineReport report)
      ABSL_LOCKS_EXCLUDED(mutex_, listeners_mutex_);
  void OnEnd() ABSL_LOCKS_EXCLUDED(mutex_, listeners_mutex_);

  // Why the process was killed if the kernel did it for want of memory; empty
  // if it did not.
  std::string ExplainOomKill() const;
  absl::Status ExplainEnd(int wait_status) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  base::ChildProcess process_;
  const MemoryGroup group_;
  const int64_t oom_kills_at_start_;
  const int64_t thread_refusals_at_start_;
  MessageSocket socket_;
  std::atomic<bool> was_heard_ = true;
  int silent_beats_ = 0;  // counted by Beat()

  mutable absl::Mutex mutex_;
  std::optional<EngineReport> answer_ ABSL_GUARDED_BY(mutex_);
  bool was_silent_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);  // OK while the process runs

  // Held while listeners are called.
  absl::Mutex listeners_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  int next_engine_ ABSL_GUARDED_BY(listeners_mutex_) = 0;
  std::map<int, EngineListener*> listeners_ ABSL_GUARDED_BY(listeners_mutex_);

  std::thread reader_;
};

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_ENGINE_PROCESS_H_
