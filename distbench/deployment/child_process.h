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

// A program that runs as a child of this process, in its own process group, and
// does not outlive it. Its output is read only while a method waits. Not
// thread-safe.
class ChildProcess {
 public:
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const std::vector<std::string>& arguments);

  // Sends SIGTERM, and SIGKILL if the child has not ended after some seconds.
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Waits for a line of output (stdout or stderr) that contains the text, and
  // returns the line. The error quotes the output instead.
  absl::StatusOr<std::string> WaitForLine(absl::string_view text,
                                          absl::Time deadline);

  void Terminate();

 private:
  ChildProcess(pid_t pid, int output, std::string name);

  // Returns false at the end of the output, or if there is none by the
  // deadline.
  bool ReadSome(absl::Time deadline);
  bool HasEnded(absl::Time deadline);

  const pid_t pid_;
  const int output_;
  const std::string name_;
  std::string text_;
};

}  // namespace distbench

#endif  // DISTBENCH_DEPLOYMENT_CHILD_PROCESS_H_
