#include "distbench/search/benchpress/final_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

extern char** environ;

namespace distbench {
namespace {

constexpr int kReadPollMs = 100;

// Waits until the process ends; returns whether it ended in time.
bool AwaitEnd(pid_t pid, absl::Duration timeout) {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return false;
  const absl::Time deadline = absl::Now() + timeout;
  pollfd event = {.fd = process, .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    const absl::Duration left =
        std::max(deadline - absl::Now(), absl::ZeroDuration());
    ready = poll(&event, 1, static_cast<int>(absl::ToInt64Milliseconds(left)));
  } while (ready < 0 && errno == EINTR);
  close(process);
  return ready > 0;
}

std::string ProblemOf(int status) {
  if (WIFSIGNALED(status)) {
    return absl::StrCat("was killed by signal ", WTERMSIG(status));
  }
  const int code = WEXITSTATUS(status);
  return code == 0 ? "" : absl::StrCat("exited with status ", code);
}

std::vector<std::string> EnvironmentWith(
    const std::map<std::string, std::string>& more) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) all.push_back(*each);
  for (const auto& [name, value] : more) {
    all.push_back(absl::StrCat(name, "=", value));
  }
  return all;
}

int Spawn(const std::string& command, std::vector<std::string> environment,
          int output_fd, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output_fd, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);

  std::string shell = "/bin/sh";
  std::string flag = "-c";
  std::string text = command;
  char* const arguments[] = {shell.data(), flag.data(), text.data(), nullptr};
  std::vector<char*> variables;
  for (std::string& each : environment) variables.push_back(each.data());
  variables.push_back(nullptr);
  const int error = posix_spawn(&pid, shell.c_str(), &actions, &attributes,
                                arguments, variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FinalCommand>> FinalCommand::Start(
    const std::string& command,
    const std::map<std::string, std::string>& environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot make a pipe: ", std::strerror(errno)));
  }
  pid_t pid = 0;
  const int error =
      Spawn(command, EnvironmentWith(environment), ends[1], pid);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return absl::UnavailableError(
        absl::StrCat("cannot start /bin/sh: ", std::strerror(error)));
  }
  return std::unique_ptr<FinalCommand>(new FinalCommand(pid, ends[0]));
}

FinalCommand::FinalCommand(pid_t pid, int output_fd)
    : pid_(pid), output_fd_(output_fd), reader_([this] { Read(); }) {}

FinalCommand::~FinalCommand() {
  if (pid_ > 0) Finish(absl::ZeroDuration());
}

void FinalCommand::Read() {
  char buffer[4096];
  while (true) {
    // Still reads the output that was pending when the command was killed. Does
    // not wait for processes that escaped the process group, such as daemons.
    const bool is_over = is_over_;
    pollfd event = {.fd = output_fd_, .events = POLLIN, .revents = 0};
    if (poll(&event, 1, kReadPollMs) <= 0) {
      if (is_over) return;
      continue;
    }
    const ssize_t count = read(output_fd_, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    const size_t room = kMaxOutputBytes - output_.size();
    output_.append(buffer, std::min<size_t>(room, count));
  }
}

FinalCommandOutcome FinalCommand::Finish(absl::Duration timeout) {
  FinalCommandOutcome outcome;
  const bool ended = AwaitEnd(pid_, timeout);
  // Its children may still hold the pipe.
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  is_over_ = true;
  reader_.join();
  close(output_fd_);
  outcome.output = std::move(output_);
  outcome.problem =
      ended ? ProblemOf(status)
            : absl::StrCat("had not ended ", absl::FormatDuration(timeout),
                           " after the final run, and was killed");
  return outcome;
}

}  // namespace distbench
