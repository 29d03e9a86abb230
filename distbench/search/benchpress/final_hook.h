// Ties a command of the user's to the final run of a search.

#ifndef DISTBENCH_SEARCH_BENCHPRESS_FINAL_HOOK_H_
#define DISTBENCH_SEARCH_BENCHPRESS_FINAL_HOOK_H_

#include <memory>
#include <string>

#include "distbench/search/benchpress/final_command.h"
#include "distbench/search/search_run.h"

namespace distbench {

// The code of the finding that a final run has of its command: a NOTE, or a
// WARN if it failed, whose message is the command and what it printed.
inline constexpr char kFinalCommandFinding[] = "on_final";

// Runs the command beside each final run of a TestRunner, from when its traffic
// starts. In the command's environment are DISTBENCH_FINAL_START and
// DISTBENCH_FINAL_END, between which is measured (UTC, ISO 8601), the same as
// DISTBENCH_FINAL_START_UNIX and DISTBENCH_FINAL_END_UNIX in seconds, and
// DISTBENCH_FINAL_LOAD. Not thread-safe.
class FinalHook {
 public:
  // How long a command may take after the end of its run.
  static constexpr absl::Duration kGrace = absl::Seconds(10);

  explicit FinalHook(std::string command) : command_(std::move(command)) {}

  // Before each probe.
  void Announce(const PlannedProbe& probe) { probe_ = probe; }

  // `run` with the command, whose outcome is in the result's findings. This
  // must outlive what is returned.
  TestRunner Wrap(TestRunner run);

 private:
  void StartCommand();
  void FinishCommand(TestResult& result);
  void AddFinding(Finding::Severity severity, std::string message,
                  TestResult& result) const;

  const std::string command_;
  PlannedProbe probe_;
  std::unique_ptr<FinalCommand> running_;
  std::string start_problem_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_BENCHPRESS_FINAL_HOOK_H_
