// A program that runs as a child of this process.

#ifndef DISTBENCH_BASE_CHILD_PROCESS_H_
#define DISTBENCH_BASE_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/file_descriptor.h"

namespace distbench {

struct ChildProgram {
  std::string path;                    // no search in PATH
  std::vector<std::string> arguments;  // the first is the program's name

  // "NAME=VALUE" each, besides the environment of this process.
  std::vector<std::string> more_environment = {};

  // A descriptor of this process that the child has by another number; negative:
  // none. Nothing else is open there but stdin, which is /dev/null, stdout and
  // stderr.
  int inherited = -1;
  static constexpr int kInheritedNumber = 3;

  // Gets SIGTERM when the thread that starts it ends.
  bool ends_with_parent = false;
};

// Thread-safe, but for Finish(): once.
class ChildProcess {
 public:
  // In a process group of its own, with no signal blocked. If `output` is not
  // null, it becomes the end of a pipe from which to read the child's stdout
  // and stderr. A program that cannot be run ends with status 127, as in a
  // shell.
  static absl::StatusOr<ChildProcess> Start(ChildProgram program,
                                            FileDescriptor* output = nullptr);

  ChildProcess(ChildProcess&& other) noexcept
      : pid_(other.pid_),
        handle_(std::move(other.handle_)),
        is_finished_(std::exchange(other.is_finished_, true)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;

  // Finishes it, if that was not done.
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  // Whether it has ended by itself, or does so within the time.
  bool HasEnded(absl::Duration patience) const;

  // Does nothing once it has ended.
  void Signal(int signal) const;

  // Kills what is left of its process group, and returns how it ended, as
  // waitpid(2) has it.
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

}  // namespace distbench

#endif  // DISTBENCH_BASE_CHILD_PROCESS_H_
