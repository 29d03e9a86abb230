// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/engine_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/base/memory.h"
#include "distbench/base/threads.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/hosting/engine_messages.h"

namespace distbench::hosting {
namespace {

// Deeper than any group.
constexpr int kMostLevels = 64;

// A path by which an open file or folder can be read, each time anew.
std::string PathOf(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

// Nothing: no limit.
std::optional<int64_t> TightestLimit(int folder) {
  std::optional<int64_t> tightest;
  std::string group = PathOf(folder);
  for (int level = 0; level < kMostLevels; ++level, group += "/..") {
    // The hierarchy ends here.
    if (access((group + "/cgroup.procs").c_str(), F_OK) != 0) break;
    const std::optional<int64_t> bytes =
        base::ReadNumber(group + "/memory.max");
    if (bytes) tightest = std::min(tightest.value_or(*bytes), *bytes);
  }
  return tightest;
}

}  // namespace

MemoryGroup MemoryGroup::Open(int folder) {
  if (folder < 0) return MemoryGroup(base::FileDescriptor(), "");
  const std::optional<int64_t> bytes = TightestLimit(folder);
  return MemoryGroup(base::FileDescriptor(
                         openat(folder, "memory.events", O_RDONLY | O_CLOEXEC)),
                     bytes.has_value()
                         ? absl::StrCat("whose memory.max is ",
                                        config::FormatSizeWithUnit(*bytes))
                         : "which has no memory.max");
}

MemoryGroup::MemoryGroup(base::FileDescriptor events, std::string limit)
    : events_(std::move(events)), limit_(std::move(limit)) {}

int64_t MemoryGroup::OomKills() const {
  if (!events_.is_open()) return 0;
  // The file cannot be read if its group was removed.
  return base::ReadNumberOf(PathOf(events_.get()), "oom_kill").value_or(0);
}

namespace {

// How long a process that was told to end may take to do so.
constexpr absl::Duration kEndPatience = absl::Seconds(2);

constexpr char kHowToHaveMoreThreads[] =
    "raise the limits of threads of this host, user or control group "
    "(kernel.threads-max, ulimit -u, pids.max; under systemd TasksMax), or "
    "have "
    "fewer instances or threads here";

absl::Status TooManyProcesses(absl::string_view what) {
  const base::ThreadRoom room = base::ReadThreadRoom("");
  return absl::ResourceExhaustedError(absl::StrCat(
      "cannot start an engine process: ", what, room.limit.empty() ? "" : ": ",
      room.limit, "; ", kHowToHaveMoreThreads));
}

static_assert(base::ChildProgram::kInheritedNumber == kEngineSocket);

}  // namespace

absl::StatusOr<std::unique_ptr<EngineProcess>> EngineProcess::Launch(
    const Start& start, const EngineLimits& limits) {
  auto ends = MessageSocket::MakePair();
  if (!ends.ok()) return ends.status();
  // The path of this program finds it even if its file was replaced. It gets
  // its own process group because Ctrl-C in the node manager's terminal must
  // not end the engines: the node manager still collects their measurements.
  base::ChildProgram program = {
      .path = start.program.empty() ? "/proc/self/exe" : start.program,
      .arguments = {"distbench", kEngineSubcommand},
      .inherited = ends->second.get(),
      .ends_with_parent = true,
      .end_signal = SIGKILL,
      .group = start.group};
  if (start.is_warm) program.arguments.push_back(kWarmFlag);
  if (limits.max_files > 0) {
    program.arguments.push_back(
        absl::StrCat(kMaxFilesFlag, "=", limits.max_files));
  }
  auto process = base::ChildProcess::Start(std::move(program));
  if (absl::IsUnavailable(process.status())) {  // EAGAIN
    return TooManyProcesses(process.status().message());
  }
  if (!process.ok()) return process.status();
  std::unique_ptr<EngineProcess> engine(
      new EngineProcess(*std::move(process), std::move(ends->first),
                        MemoryGroup::Open(start.group)));
  auto reader = base::StartThread("an engine process",
                                  [engine = engine.get()] { engine->Read(); });
  if (!reader.ok()) return TooManyProcesses(reader.status().message());
  engine->reader_ = *std::move(reader);
  return engine;
}

EngineProcess::EngineProcess(base::ChildProcess process,
                             base::FileDescriptor socket, MemoryGroup group)
    : process_(std::move(process)),
      group_(std::move(group)),
      oom_kills_at_start_(base::ReadOomKills("")),
      thread_refusals_at_start_(base::ReadThreadRefusals("")),
      socket_(std::move(socket)) {}

EngineProcess::~EngineProcess() {
  End();
  if (!process_.HasEnded(kEndPatience)) Kill();
  if (reader_.joinable()) reader_.join();
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
  // The reader also notices a failure, and knows the reason.
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
  // A thread that is blocked while sending waits for the same process.
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
  switch (report.report_case()) {
    case EngineReport::kProgress:
    case EngineReport::kOverload:
    case EngineReport::kFinished: {
      absl::MutexLock lock(&listeners_mutex_);
      const auto found = listeners_.find(report.engine());
      if (found != listeners_.end()) found->second->OnReport(report);
      return;
    }
    case EngineReport::REPORT_NOT_SET:
      return;
    default: {
      absl::MutexLock lock(&mutex_);
      answer_ = std::move(report);
    }
  }
}

void EngineProcess::OnEnd() {
  // A process that sends no more messages is of no use.
  process_.HasEnded(kEndPatience);
  const int wait_status = process_.Finish();
  absl::Status end;
  {
    absl::MutexLock lock(&mutex_);
    end = ExplainEnd(wait_status);
    end_ = end;
  }
  absl::MutexLock lock(&listeners_mutex_);
  for (const auto& [engine, listener] : listeners_) listener->OnLost(end);
}

std::string EngineProcess::ExplainOomKill() const {
  constexpr char kRemedy[] =
      "; have fewer or smaller RPCs in flight, or fewer instances here";
  if (group_.OomKills() > 0) {
    return absl::StrCat(
        ": the kernel found no more memory for its control group, ",
        group_.DescribeLimit(), kRemedy, ", or give it more");
  }
  if (base::ReadOomKills("") > oom_kills_at_start_) {
    return absl::StrCat(
        ": the kernel had no memory left, of the host or of its control group",
        kRemedy);
  }
  return "";
}

absl::Status EngineProcess::ExplainEnd(int wait_status) const {
  std::string how = absl::StrCat("its engine process ", pid(), " ");
  if (was_silent_) {
    absl::StrAppend(&how, "did not answer for ",
                    absl::FormatDuration(kMaxSilentBeats * kBeatInterval),
                    ", and was killed");
    return absl::UnavailableError(how);
  }
  absl::StrAppend(&how, base::DescribeExit(wait_status));
  if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL) {
    absl::StrAppend(&how, ExplainOomKill());
  }
  // Libraries abort when they cannot start a thread.
  if (base::ReadThreadRefusals("") > thread_refusals_at_start_) {
    absl::StrAppend(&how, ": its control group allowed no more threads; ",
                    kHowToHaveMoreThreads);
  }
  return absl::UnavailableError(how);
}

}  // namespace distbench::hosting
