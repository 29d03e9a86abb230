// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs a user's command, such as a profiler, together with the final run of a
// search.

#ifndef DISTBENCH_PRODUCTS_SEARCH_BENCHPRESS_FINAL_HOOK_H_
#define DISTBENCH_PRODUCTS_SEARCH_BENCHPRESS_FINAL_HOOK_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/products/search/search_run.h"

namespace distbench::search {

// How the command ended.
struct FinalCommandOutcome {
  // What it printed to stdout and stderr, up to kMaxOutputBytes of it.
  std::string output;

  // Why it is to be warned of: it failed, was killed by a signal, or did not
  // end in time. Empty if all is well.
  std::string problem;
};

// A command of the user's that runs beside the final run.
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
  FinalCommand(base::ChildProcess process, base::FileDescriptor output_end);

  // Reads until the other end is closed, or until all is over.
  void Read();

  base::ChildProcess process_;
  const base::FileDescriptor output_end_;
  std::string output_;  // of the reader, until it has ended
  std::atomic<bool> is_over_ = false;
  std::thread reader_;
};

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

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_BENCHPRESS_FINAL_HOOK_H_
