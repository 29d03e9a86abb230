// Runs a user's command together with the final run of a search.

#ifndef DISTBENCH_SEARCH_BENCHPRESS_FINAL_HOOK_H_
#define DISTBENCH_SEARCH_BENCHPRESS_FINAL_HOOK_H_

#include <memory>
#include <string>

#include "distbench/search/benchpress/final_command.h"
#include "distbench/search/search_run.h"

namespace distbench {

// The code of the finding about the command: a NOTE, or a WARN if the command
// failed. Its message holds the command and its output.
inline constexpr char kFinalCommandFinding[] = "on_final";

// Runs the command during each final run of a TestRunner, from the start of its
// traffic. The command's environment contains DISTBENCH_FINAL_START and
// DISTBENCH_FINAL_END, the bounds of the measured time (UTC, ISO 8601),
// DISTBENCH_FINAL_START_UNIX and DISTBENCH_FINAL_END_UNIX, the same in seconds,
// and DISTBENCH_FINAL_LOAD. Not thread-safe.
class FinalHook {
 public:
  // How long the command may run after the end of its run.
  static constexpr absl::Duration kGrace = absl::Seconds(10);

  explicit FinalHook(std::string command) : command_(std::move(command)) {}

  // Call before each probe.
  void Announce(const PlannedProbe& probe) { probe_ = probe; }

  // Returns `run`, extended by the command. The outcome becomes a finding of
  // the result. This object must outlive the returned runner.
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
