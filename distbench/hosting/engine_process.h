// A process that engines run in, as the node manager that started it sees it.

#ifndef DISTBENCH_HOSTING_ENGINE_PROCESS_H_
#define DISTBENCH_HOSTING_ENGINE_PROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/file_descriptor.h"
#include "distbench/hosting/engine_control.pb.h"
#include "distbench/hosting/engine_limits.h"
#include "distbench/hosting/message_socket.h"

namespace distbench {

// Told what an engine says by itself, on a thread of the process's owner.
class EngineListener {
 public:
  virtual ~EngineListener() = default;
  virtual void OnProgress(const EngineTotals& totals) = 0;
  virtual void OnOverload(const absl::Status& status) = 0;
  virtual void OnFinished(const EngineTotals& totals) = 0;

  // The process has ended, and nobody wanted it to. Comes last.
  virtual void OnLost(const absl::Status& status) = 0;
};

// Thread-safe, but for Call(): one thread at a time.
class EngineProcess {
 public:
  // Between calls of Beat(), and how many of them a process may let pass without
  // saying anything.
  static constexpr absl::Duration kBeatInterval = absl::Milliseconds(500);
  static constexpr int kMaxSilentBeats = 8;

  enum class Start { kWarm, kCold };

  // Starts this program anew, as a child that runs the subcommand `engine`, and
  // warms up first if it is told to. It inherits what the calling thread is bound
  // to, and is killed if that thread ends. RESOURCE_EXHAUSTED if there may be no
  // more processes or threads.
  static absl::StatusOr<std::unique_ptr<EngineProcess>> Launch(
      Start start, const EngineLimits& limits);

  // Ends it, by force if it does not end by itself within some seconds.
  ~EngineProcess();

  EngineProcess(const EngineProcess&) = delete;
  EngineProcess& operator=(const EngineProcess&) = delete;

  pid_t pid() const { return process_.pid(); }

  // Tells it to end; and makes it end. Do not wait.
  void End() { socket_.CloseForSending(); }
  void Kill() const { process_.Signal(SIGKILL); }
  bool has_ended() const { return process_.HasEnded(absl::ZeroDuration()); }

  // False once it was noticed that the process has ended.
  bool is_alive() const ABSL_LOCKS_EXCLUDED(mutex_);

  // A number for a new engine, which the listener is told of until Forget().
  // Forget() waits until no call of the listener is under way.
  int Add(EngineListener& listener) ABSL_LOCKS_EXCLUDED(listeners_mutex_);
  void Forget(int engine) ABSL_LOCKS_EXCLUDED(listeners_mutex_);

  // Gives a command that is answered, and waits for the answer. An error if the
  // process was lost: says how it ended.
  absl::StatusOr<EngineReport> Call(const EngineCommand& command)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Gives a command that is not answered.
  void Send(const EngineCommand& command) { socket_.Send(command); }

  // The same, but returns false instead of waiting for another thread.
  bool TrySend(const EngineCommand& command) {
    return socket_.TrySend(command);
  }

  // To be called every kBeatInterval while the process has engines: asks for
  // their progress, and kills the process if it has not answered for too long.
  void Beat() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  EngineProcess(ChildProcess process, FileDescriptor socket);

  // The reader's side.
  void Read() ABSL_LOCKS_EXCLUDED(mutex_);
  void Dispatch(EngineReport report) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnEnd() ABSL_LOCKS_EXCLUDED(mutex_, listeners_mutex_);

  absl::Status ExplainEnd(int wait_status) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ChildProcess process_;
  const int64_t oom_kills_at_start_;
  const int64_t thread_refusals_at_start_;
  MessageSocket socket_;
  std::atomic<bool> was_heard_ = true;
  int silent_beats_ = 0;  // of Beat()

  mutable absl::Mutex mutex_;
  std::optional<EngineReport> answer_ ABSL_GUARDED_BY(mutex_);
  bool was_silent_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);  // OK: it runs

  // Held while listeners are told.
  absl::Mutex listeners_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  int next_engine_ ABSL_GUARDED_BY(listeners_mutex_) = 0;
  std::map<int, EngineListener*> listeners_ ABSL_GUARDED_BY(listeners_mutex_);

  std::thread reader_;
};

}  // namespace distbench

#endif  // DISTBENCH_HOSTING_ENGINE_PROCESS_H_
