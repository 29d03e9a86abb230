// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A program that runs as a child of this process.

#ifndef DISTBENCH_BASE_CHILD_PROCESS_H_
#define DISTBENCH_BASE_CHILD_PROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"

namespace distbench::base {

struct ChildProgram {
  std::string path;                    // PATH is not searched
  std::vector<std::string> arguments;  // the first is the program name

  // Each is "NAME=VALUE", added to the environment of this process, or instead
  // of the variable that has the name there.
  std::vector<std::string> more_environment = {};

  // A descriptor of this process that the child gets as kInheritedNumber;
  // negative for none. The child's only other open descriptors are stdin, which
  // is /dev/null unless `has_stdin`, stdout and stderr.
  int inherited = -1;
  static constexpr int kInheritedNumber = 3;

  // The child reads the stdin of this process.
  bool has_stdin = false;

  // The child gets a signal when the thread that started it ends, even if that
  // happens before it runs the program. One that must not outlive it, whatever
  // it is doing, gets SIGKILL.
  bool ends_with_parent = false;
  int end_signal = SIGTERM;

  // A session of its own, away from the terminal of this process.
  bool has_own_session = false;

  // A descriptor of the folder of a control group (version 2) in which the
  // child starts, so that all of its memory counts there; negative for that of
  // this process.
  int group = -1;
};

// A running program. Thread-safe, except that Finish() is called at most once.
class ChildProcess {
 public:
  // Starts a program in its own process group, with no signal blocked. If
  // `output` is not null, it becomes the end of a pipe from which to read the
  // child's stdout and stderr. If the program cannot be run, the child exits
  // with status 127, as in a shell. If it cannot be started in its group, the
  // error says why.
  static absl::StatusOr<ChildProcess> Start(ChildProgram program,
                                            FileDescriptor* output = nullptr);

  ChildProcess(ChildProcess&& other) noexcept
      : pid_(other.pid_),
        handle_(std::move(other.handle_)),
        is_finished_(std::exchange(other.is_finished_, true)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;

  // Calls Finish() unless that was done.
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  // Returns whether the child has ended by itself, waiting up to `patience`.
  bool HasEnded(absl::Duration patience) const;

  // Does nothing once the child has ended.
  void Signal(int signal) const;

  // Sends a signal that this process received itself. A child with StopSignals
  // does not take it for a second request if whoever sent it to this process
  // sent it to the child as well.
  void PassOn(int signal) const;

  // Kills whatever is left of the process group. Returns the wait status, as
  // waitpid(2) does.
  int Finish();

 private:
  ChildProcess(pid_t pid, FileDescriptor handle)
      : pid_(pid), handle_(std::move(handle)) {}

  const pid_t pid_;
  FileDescriptor handle_;  // pidfd_open(2)
  bool is_finished_ = false;
};

// "exited with status 3" or "was killed by signal 9 (Killed)".
std::string DescribeExit(int wait_status);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_CHILD_PROCESS_H_
