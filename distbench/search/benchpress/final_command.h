// Runs a user's command, such as a profiler, during the final run.
//
//   auto command = FinalCommand::Start("perf stat -a", environment);
//   ...
//   FinalCommandOutcome outcome = (*command)->Finish(absl::Seconds(10));

#ifndef DISTBENCH_SEARCH_BENCHPRESS_FINAL_COMMAND_H_
#define DISTBENCH_SEARCH_BENCHPRESS_FINAL_COMMAND_H_

#include <sys/types.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace distbench {

// The result of a command.
struct FinalCommandOutcome {
  // Its stdout and stderr, at most kMaxOutputBytes.
  std::string output;

  // Why it deserves a warning: it failed, was killed by a signal, or did not
  // end in time. Empty otherwise.
  std::string problem;
};

class FinalCommand {
 public:
  static constexpr size_t kMaxOutputBytes = 1 << 16;

  // Starts `/bin/sh -c command` in its own process group. `environment` is
  // added to this process's environment.
  static absl::StatusOr<std::unique_ptr<FinalCommand>> Start(
      const std::string& command,
      const std::map<std::string, std::string>& environment);

  // Kills the command and its process group, unless it has ended.
  ~FinalCommand();

  FinalCommand(const FinalCommand&) = delete;
  FinalCommand& operator=(const FinalCommand&) = delete;

  // Waits for the command to end, and kills it after `timeout`. Call at most
  // once.
  FinalCommandOutcome Finish(absl::Duration timeout);

 private:
  FinalCommand(pid_t pid, int output_fd);

  // Reads until the other end is closed, or until is_over_ is set.
  void Read();

  pid_t pid_;
  int output_fd_;
  std::string output_;  // written by reader_ until it ends
  std::atomic<bool> is_over_ = false;
  std::thread reader_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_BENCHPRESS_FINAL_COMMAND_H_
