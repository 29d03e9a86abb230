#ifndef DISTBENCH_DEPLOYMENT_CHILD_PROCESS_H_
#define DISTBENCH_DEPLOYMENT_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace distbench {

// A program that runs as a child of this process, in a process group of its
// own, and ends with it at the latest. Its output is read when somebody waits
// for it. Not thread-safe.
class ChildProcess {
 public:
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const std::vector<std::string>& arguments);

  // Ends it by SIGTERM; by SIGKILL if it is still there after some seconds.
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Waits for a line of its output (stdout and stderr) that contains the text,
  // and returns it. The error has what the program said instead.
  absl::StatusOr<std::string> WaitForLine(absl::string_view text,
                                          absl::Time deadline);

  void Terminate();

 private:
  ChildProcess(pid_t pid, int output, std::string name);

  // False at the end of the output, or if there was none until the deadline.
  bool ReadSome(absl::Time deadline);
  bool HasEnded(absl::Time deadline);

  const pid_t pid_;
  const int output_;
  const std::string name_;
  std::string text_;
};

}  // namespace distbench

#endif  // DISTBENCH_DEPLOYMENT_CHILD_PROCESS_H_
