#include "distbench/deployment/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"

namespace distbench {
namespace {

constexpr absl::Duration kEndPatience = absl::Seconds(15);
constexpr absl::Duration kPollInterval = absl::Milliseconds(20);

// Runs in the child between fork(2) and execv(3), so makes system calls only.
[[noreturn]] void Become(char* const* arguments, int output, pid_t parent) {
  sigset_t no_signals;
  sigemptyset(&no_signals);
  sigprocmask(SIG_SETMASK, &no_signals, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have ended before that took effect.
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(arguments[0], arguments);
  _exit(127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "pipe2");
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) Become(pointers.data(), pipe_ends[1], parent);
  const int error = errno;
  close(pipe_ends[1]);
  if (pid < 0) {
    close(pipe_ends[0]);
    return absl::ErrnoToStatus(error, "fork");
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(
      pid, pipe_ends[0], absl::StrJoin(arguments, " ")));
}

ChildProcess::ChildProcess(pid_t pid, int output, std::string name)
    : pid_(pid), output_(output), name_(std::move(name)) {}

ChildProcess::~ChildProcess() {
  Terminate();
  if (!HasEnded(absl::Now() + kEndPatience)) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(output_);
}

void ChildProcess::Terminate() { kill(pid_, SIGTERM); }

// Reads the output meanwhile, so that a full pipe does not block the child.
bool ChildProcess::HasEnded(absl::Time deadline) {
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (absl::Now() > deadline) return false;
    if (!ReadSome(absl::Now() + kPollInterval)) absl::SleepFor(kPollInterval);
  }
  return true;
}

bool ChildProcess::ReadSome(absl::Time deadline) {
  pollfd event = {.fd = output_, .events = POLLIN, .revents = 0};
  const int64_t patience_ms =
      std::max<int64_t>(0, absl::ToInt64Milliseconds(deadline - absl::Now()));
  if (poll(&event, 1, static_cast<int>(patience_ms)) <= 0) return false;
  char bytes[4096];
  const ssize_t count = read(output_, bytes, sizeof(bytes));
  if (count <= 0) return false;
  text_.append(bytes, count);
  return true;
}

absl::StatusOr<std::string> ChildProcess::WaitForLine(absl::string_view text,
                                                      absl::Time deadline) {
  do {
    for (const absl::string_view line : absl::StrSplit(text_, '\n')) {
      if (line.find(text) != absl::string_view::npos &&
          text_.find('\n', line.data() - text_.data()) != std::string::npos) {
        return std::string(line);
      }
    }
  } while (ReadSome(deadline));
  return absl::AbortedError(absl::StrCat(
      "\"", name_, "\" did not print \"", text, "\"; its output: ", text_));
}

}  // namespace distbench
