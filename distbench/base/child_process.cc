// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/child_process.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "distbench/base/stop_signals.h"

namespace distbench::base {
namespace {

constexpr int kCannotRun = 127;

void AppendPointers(std::vector<std::string>& strings,
                    std::vector<char*>& pointers) {
  for (std::string& each : strings) pointers.push_back(each.data());
  pointers.push_back(nullptr);
}

// Runs in the child, which shares the parent's memory until execve(2), or has a
// copy in which other threads' locks are never released, so it makes system
// calls only.
[[noreturn]] void Become(const ChildProgram& program, int output,
                         char* const* arguments, char* const* environment,
                         pid_t parent) {
  if (program.ends_with_parent) {
    prctl(PR_SET_PDEATHSIG, program.end_signal);
    // The parent may have ended before that took effect.
    if (getppid() != parent) _exit(kCannotRun);
  }
  if (program.has_own_session) {
    setsid();
  } else {
    setpgid(0, 0);
  }
  if (!program.has_stdin) {
    close(STDIN_FILENO);
    open("/dev/null", O_RDONLY);  // the lowest descriptor that is free
  }
  if (output >= 0) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
  }
  constexpr int kNumber = ChildProgram::kInheritedNumber;
  if (program.inherited == kNumber) {
    fcntl(kNumber, F_SETFD, 0);  // dup2(2) would leave close-on-exec set
  } else if (program.inherited >= 0) {
    dup2(program.inherited, kNumber);
  }
  closefrom(program.inherited < 0 ? kNumber : kNumber + 1);
  sigset_t no_signals;
  sigemptyset(&no_signals);
  sigprocmask(SIG_SETMASK, &no_signals, nullptr);
  execve(program.path.c_str(), arguments, environment);
  _exit(kCannotRun);
}

// As fork(2), but into a control group. clone3(2) could share memory, as
// vfork(2) does, but the child would return on the stack of its parent, for
// which the C library has no support.
pid_t ForkIntoGroup(int group) {
  clone_args arguments = {};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = group;
  return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof(arguments)));
}

// Whether clone3(2) failed as it does before Linux 5.7, and in containers that
// forbid it.
bool MayLackClone3(int error_number) {
  return error_number == ENOSYS || error_number == EPERM ||
         error_number == EINVAL || error_number == E2BIG;
}

// Moves this process, a child that was made outside, into a control group. What
// it has allocated so far is not its own, or next to nothing. Otherwise ends
// it, and tells the parent the error through the memory that they share.
void JoinGroup(int group, volatile int& error_number) {
  const int processes = openat(group, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (processes >= 0 && write(processes, "0", 1) == 1) {
    close(processes);
    return;
  }
  error_number = errno;
  _exit(kCannotRun);
}

// What the number of an error means for a start in a control group.
const char* GroupExplanation(int error_number) {
  switch (error_number) {
    case EBADF:
      return "; that is not the folder of a control group of version 2";
    case EBUSY:
      return "; the control group passes on controllers to groups below it: "
             "start programs in one of these";
    case EOPNOTSUPP:
      return "; the control group is threaded, or one above it is";
    case EACCES:
    case EPERM:
      return "; it needs the right to write to cgroup.procs of the control "
             "group and of the one that contains both processes";
    case ENODEV:
      return "; the control group has been removed";
    case ENOENT:
      return "; the control group has been removed, or is none of version 2";
    default:
      return "";
  }
}

absl::Status StartError(int error_number, const ChildProgram& program) {
  const absl::Status status = absl::ErrnoToStatus(
      error_number, absl::StrCat("cannot start ", program.path));
  if (program.group < 0) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(), GroupExplanation(error_number)));
}

// Whether one of `replaced` ("NAME=VALUE") has the variable's name.
bool IsReplaced(const char* variable,
                const std::vector<std::string>& replaced) {
  const absl::string_view text = variable;
  const absl::string_view name = text.substr(0, text.find('=') + 1);
  return std::any_of(
      replaced.begin(), replaced.end(),
      [name](const std::string& each) { return absl::StartsWith(each, name); });
}

// fork(2) would copy the page tables of a process that may be large, and
// posix_spawn(3) does not support PR_SET_PDEATHSIG.
pid_t Spawn(ChildProgram& program, int output) {
  std::vector<char*> arguments;
  AppendPointers(program.arguments, arguments);
  std::vector<char*> environment;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!IsReplaced(*each, program.more_environment)) {
      environment.push_back(*each);
    }
  }
  AppendPointers(program.more_environment, environment);
  const pid_t parent = getpid();
  pid_t pid = program.group >= 0 ? ForkIntoGroup(program.group) : -1;
  const bool joins = program.group >= 0 && pid < 0 && MayLackClone3(errno);
  volatile int join_error = 0;
  if (program.group < 0 || joins) {
    pid = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  }
  if (pid == 0) {
    if (joins) JoinGroup(program.group, join_error);
    Become(program, output, arguments.data(), environment.data(), parent);
  }
  if (join_error == 0) return pid;
  waitpid(pid, nullptr, 0);
  errno = join_error;
  return -1;
}

}  // namespace

absl::StatusOr<ChildProcess> ChildProcess::Start(ChildProgram program,
                                                 FileDescriptor* output) {
  FileDescriptor output_of_child;
  if (output != nullptr) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      return absl::ErrnoToStatus(errno, "cannot make a pipe");
    }
    *output = FileDescriptor(ends[0]);
    output_of_child = FileDescriptor(ends[1]);
  }
  const pid_t pid = Spawn(program, output_of_child.get());
  if (pid < 0) return StartError(errno, program);
  ChildProcess child(
      pid, FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))));
  if (!child.handle_.is_open()) return absl::ErrnoToStatus(errno, "pidfd_open");
  return child;
}

ChildProcess::~ChildProcess() {
  if (!is_finished_) Finish();
}

bool ChildProcess::HasEnded(absl::Duration patience) const {
  const absl::Time deadline = absl::Now() + patience;
  pollfd event = {.fd = handle_.get(), .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    const int64_t left_ms = absl::ToInt64Milliseconds(deadline - absl::Now());
    ready = poll(&event, 1, std::clamp<int64_t>(left_ms, 0, INT_MAX));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

void ChildProcess::Signal(int signal) const {
  syscall(SYS_pidfd_send_signal, handle_.get(), signal, nullptr, 0);
}

void ChildProcess::PassOn(int signal) const {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_value.sival_int = kPassedOnSignal;
  syscall(SYS_pidfd_send_signal, handle_.get(), signal, &info, 0);
}

int ChildProcess::Finish() {
  is_finished_ = true;
  Signal(SIGKILL);
  // The kernel does not reuse the pid until the child is waited for.
  kill(-pid_, SIGKILL);
  int wait_status = 0;
  while (waitpid(pid_, &wait_status, 0) < 0 && errno == EINTR) {
  }
  return wait_status;
}

std::string DescribeExit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return absl::StrCat("was killed by signal ", signal, " (",
                        strsignal(signal), ")");
  }
  return absl::StrCat("exited with status ", WEXITSTATUS(wait_status));
}

}  // namespace distbench::base
