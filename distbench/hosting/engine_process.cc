#include "distbench/hosting/engine_process.h"

#include <sys/wait.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/host_memory.h"
#include "distbench/hosting/command_status.h"
#include "distbench/hosting/engine_socket.h"

namespace distbench {
namespace {

// For a process that was told to end to do so by itself.
constexpr absl::Duration kEndPatience = absl::Seconds(2);

static_assert(ChildProgram::kInheritedNumber == kEngineSocket);

}  // namespace

absl::StatusOr<std::unique_ptr<EngineProcess>> EngineProcess::Launch(
    Start start) {
  auto ends = MessageSocket::MakePair();
  if (!ends.ok()) return ends.status();
  // By this path the program is found even if its file was replaced. Its process
  // group is its own because Ctrl-C in the node manager's terminal is the node
  // manager's business: what was measured is still to be collected.
  ChildProgram engine = {.path = "/proc/self/exe",
                         .arguments = {"distbench", kEngineSubcommand},
                         .inherited = ends->second.get()};
  if (start == Start::kWarm) engine.arguments.push_back(kWarmFlag);
  auto process = ChildProcess::Start(std::move(engine));
  if (!process.ok()) return process.status();
  return std::unique_ptr<EngineProcess>(
      new EngineProcess(*std::move(process), std::move(ends->first)));
}

EngineProcess::EngineProcess(ChildProcess process, FileDescriptor socket)
    : process_(std::move(process)),
      oom_kills_at_start_(ReadOomKills("")),
      socket_(std::move(socket)),
      reader_([this] { Read(); }) {}

EngineProcess::~EngineProcess() {
  End();
  if (!process_.HasEnded(kEndPatience)) Kill();
  reader_.join();
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

absl::Status EngineProcess::ExplainEnd(int wait_status) const {
  std::string how = absl::StrCat("its engine process ", pid(), " ");
  if (was_silent_) {
    absl::StrAppend(&how, "did not answer for ",
                    absl::FormatDuration(kMaxSilentBeats * kBeatInterval),
                    ", and was killed");
    return absl::UnavailableError(how);
  }
  absl::StrAppend(&how, DescribeExit(wait_status));
  if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL &&
      ReadOomKills("") > oom_kills_at_start_) {
    absl::StrAppend(&how,
                    ": the kernel had no memory left, of the host or of its "
                    "control group; have fewer or smaller RPCs in flight, or "
                    "fewer instances here");
  }
  return absl::UnavailableError(how);
}

}  // namespace distbench
