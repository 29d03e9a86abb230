// A command of the user's that runs beside the final run, such as a profiler.

#ifndef DISTBENCH_SEARCH_BENCHPRESS_FINAL_COMMAND_H_
#define DISTBENCH_SEARCH_BENCHPRESS_FINAL_COMMAND_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/file_descriptor.h"

namespace distbench {

// How the command ended.
struct FinalCommandOutcome {
  // What it printed to stdout and stderr, up to kMaxOutputBytes of it.
  std::string output;

  // Why it is to be warned of: it failed, was killed by a signal, or did not
  // end in time. Empty if all is well.
  std::string problem;
};

class FinalCommand {
 public:
  static constexpr size_t kMaxOutputBytes = 1 << 16;

  // Starts `/bin/sh -c command` in a process group of its own, with
  // `environment` besides this process's.
  static absl::StatusOr<std::unique_ptr<FinalCommand>> Start(
      const std::string& command,
      const std::map<std::string, std::string>& environment);

  // Kills it, with all that it started, unless it has ended.
  ~FinalCommand();

  FinalCommand(const FinalCommand&) = delete;
  FinalCommand& operator=(const FinalCommand&) = delete;

  // Waits for its end, for so long; then kills it. Once.
  FinalCommandOutcome Finish(absl::Duration timeout);

 private:
  FinalCommand(ChildProcess process, FileDescriptor output_end);

  // Reads until the other end is closed, or until all is over.
  void Read();

  ChildProcess process_;
  const FileDescriptor output_end_;
  std::string output_;  // of the reader, until it has ended
  std::atomic<bool> is_over_ = false;
  std::thread reader_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_BENCHPRESS_FINAL_COMMAND_H_
