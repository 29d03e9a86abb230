#include "distbench/hosting/engine_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/host_memory.h"
#include "distbench/base/start_thread.h"
#include "distbench/base/thread_room.h"
#include "distbench/hosting/command_status.h"
#include "distbench/hosting/engine_socket.h"

extern char** environ;

namespace distbench {
namespace {

// For a process that was told to end to do so by itself.
constexpr absl::Duration kEndPatience = absl::Seconds(2);

constexpr char kHowToHaveMoreThreads[] =
    "raise the limits of threads of this host, user or control group "
    "(kernel.threads-max, ulimit -u, pids.max; under systemd TasksMax), or have "
    "fewer instances or threads here";

absl::Status TooManyProcesses(absl::string_view what) {
  const ThreadRoom room = ReadThreadRoom("");
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot start an engine process: ", what,
                   room.limit.empty() ? "" : ": ", room.limit, "; ",
                   kHowToHaveMoreThreads));
}

// Ctrl-C in the node manager's terminal is the node manager's business: what
// was measured is still to be collected. So the engines are a group of their
// own.
absl::StatusOr<pid_t> Spawn(int socket, bool is_warm,
                            const EngineLimits& limits) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, socket, kEngineSocket);
  posix_spawn_file_actions_addclosefrom_np(&actions, kEngineSocket + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t no_signals;
  sigemptyset(&no_signals);
  posix_spawnattr_setsigmask(&attributes, &no_signals);

  std::vector<std::string> arguments = {"distbench", kEngineSubcommand};
  if (is_warm) arguments.push_back(kWarmFlag);
  if (limits.max_files > 0) {
    arguments.push_back(absl::StrCat(kMaxFilesFlag, "=", limits.max_files));
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t pid = 0;
  // By this name the program is found even if its file was replaced.
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes,
                                pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == EAGAIN) return TooManyProcesses(std::strerror(error));
  if (error != 0) {
    return absl::ErrnoToStatus(error, "cannot start an engine process");
  }
  return pid;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EngineProcess>> EngineProcess::Launch(
    Start start, const EngineLimits& limits) {
  auto ends = MessageSocket::MakePair();
  if (!ends.ok()) return ends.status();
  // dup2(2) of a descriptor to itself would leave it to be closed.
  if (ends->second.get() == kEngineSocket) std::swap(ends->first, ends->second);
  const absl::StatusOr<pid_t> pid =
      Spawn(ends->second.get(), start == Start::kWarm, limits);
  if (!pid.ok()) return pid.status();
  FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  if (!process.is_open()) {
    const absl::Status status = absl::ErrnoToStatus(errno, "pidfd_open");
    kill(*pid, SIGKILL);
    waitpid(*pid, nullptr, 0);
    return status;
  }
  std::unique_ptr<EngineProcess> engine(
      new EngineProcess(*pid, std::move(process), std::move(ends->first)));
  auto reader = StartThread("an engine process",
                            [engine = engine.get()] { engine->Read(); });
  if (!reader.ok()) return TooManyProcesses(reader.status().message());
  engine->reader_ = *std::move(reader);
  return engine;
}

EngineProcess::EngineProcess(pid_t pid, FileDescriptor process,
                             FileDescriptor socket)
    : pid_(pid),
      process_(std::move(process)),
      oom_kills_at_start_(ReadOomKills("")),
      thread_refusals_at_start_(ReadThreadRefusals("")),
      socket_(std::move(socket)) {}

EngineProcess::~EngineProcess() {
  End();
  if (!HasEnded(kEndPatience)) Kill();
  if (reader_.joinable()) {
    reader_.join();
  } else {
    waitpid(pid_, nullptr, 0);
  }
}

bool EngineProcess::HasEnded(absl::Duration patience) const {
  pollfd event = {.fd = process_.get(), .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = poll(&event, 1, static_cast<int>(absl::ToInt64Milliseconds(patience)));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

void EngineProcess::Kill() const {
  syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
}

bool EngineProcess::is_alive() const {
  absl::MutexLock lock(&mutex_);
  return end_.ok();
}

int EngineProcess::Add(EngineListener& listener) {
  absl::MutexLock lock(&listeners_mutex_);
  listeners_[next_engine_] = &listener;
  return next_engine_++;
}

void EngineProcess::Forget(int engine) {
  absl::MutexLock lock(&listeners_mutex_);
  listeners_.erase(engine);
}

absl::StatusOr<EngineReport> EngineProcess::Call(const EngineCommand& command) {
  // That it fails is noticed by the reader as well, who knows why.
  socket_.Send(command);
  absl::MutexLock lock(&mutex_);
  const auto is_over = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return answer_.has_value() || !end_.ok();
  };
  mutex_.Await(absl::Condition(&is_over));
  if (!answer_.has_value()) return end_;
  EngineReport answer = *std::move(answer_);
  answer_.reset();
  return answer;
}

void EngineProcess::Beat() {
  silent_beats_ = was_heard_.exchange(false) ? 0 : silent_beats_ + 1;
  if (silent_beats_ >= kMaxSilentBeats) {
    absl::MutexLock lock(&mutex_);
    was_silent_ = true;
    return Kill();
  }
  EngineCommand command;
  command.mutable_ask_progress();
  // Whoever sends now and is blocked by that waits for the same process.
  socket_.TrySend(command);
}

// ---- Reader -----------------------------------------------------------------

void EngineProcess::Read() {
  for (EngineReport report; socket_.Receive(report); report.Clear()) {
    was_heard_ = true;
    Dispatch(std::move(report));
  }
  OnEnd();
}

void EngineProcess::Dispatch(EngineReport report) {
  absl::MutexLock listeners_lock(&listeners_mutex_);
  const auto found = listeners_.find(report.engine());
  EngineListener* listener =
      found == listeners_.end() ? nullptr : found->second;
  switch (report.report_case()) {
    case EngineReport::kProgress:
      if (listener != nullptr) listener->OnProgress(report.progress());
      return;
    case EngineReport::kOverload:
      if (listener != nullptr) {
        listener->OnOverload(FromCommandStatus(report.overload()));
      }
      return;
    case EngineReport::kFinished:
      if (listener != nullptr) listener->OnFinished(report.finished());
      return;
    case EngineReport::REPORT_NOT_SET:
      return;
    default: {
      absl::MutexLock lock(&mutex_);
      answer_ = std::move(report);
    }
  }
}

void EngineProcess::OnEnd() {
  // What sends no more messages is of no use any more.
  if (!HasEnded(kEndPatience)) Kill();
  int wait_status = 0;
  while (waitpid(pid_, &wait_status, 0) < 0 && errno == EINTR) {
  }
  absl::Status end;
  {
    absl::MutexLock lock(&mutex_);
    end = ExplainEnd(wait_status);
    end_ = end;
  }
  absl::MutexLock lock(&listeners_mutex_);
  for (const auto& [engine, listener] : listeners_) listener->OnLost(end);
}

absl::Status EngineProcess::ExplainEnd(int wait_status) const {
  std::string how = absl::StrCat("its engine process ", pid_);
  if (was_silent_) {
    absl::StrAppend(&how, " did not answer for ",
                    absl::FormatDuration(kMaxSilentBeats * kBeatInterval),
                    ", and was killed");
  } else if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    absl::StrAppend(&how, " was killed by signal ", signal, " (",
                    strsignal(signal), ")");
    if (signal == SIGKILL && ReadOomKills("") > oom_kills_at_start_) {
      absl::StrAppend(&how,
                      ": the kernel had no memory left, of the host or of its "
                      "control group; have fewer or smaller RPCs in flight, or "
                      "fewer instances here");
    }
  } else {
    absl::StrAppend(&how, " ended with status ", WEXITSTATUS(wait_status));
  }
  // Libraries abort if they cannot start a thread.
  if (!was_silent_ && ReadThreadRefusals("") > thread_refusals_at_start_) {
    absl::StrAppend(&how, ": its control group let it have no more threads; ",
                    kHowToHaveMoreThreads);
  }
  return absl::UnavailableError(how);
}

}  // namespace distbench
