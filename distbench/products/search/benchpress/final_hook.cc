// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/benchpress/final_hook.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace distbench::search {
namespace {

constexpr int kReadPollMs = 100;

std::string IsoUtc(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

}  // namespace

absl::StatusOr<std::unique_ptr<FinalCommand>> FinalCommand::Start(
    const std::string& command,
    const std::map<std::string, std::string>& environment) {
  base::ChildProgram shell = {.path = "/bin/sh",
                              .arguments = {"/bin/sh", "-c", command}};
  for (const auto& [name, value] : environment) {
    shell.more_environment.push_back(absl::StrCat(name, "=", value));
  }
  base::FileDescriptor output;
  auto process = base::ChildProcess::Start(std::move(shell), &output);
  if (!process.ok()) return process.status();
  return std::unique_ptr<FinalCommand>(
      new FinalCommand(*std::move(process), std::move(output)));
}

FinalCommand::FinalCommand(base::ChildProcess process,
                           base::FileDescriptor output_end)
    : process_(std::move(process)),
      output_end_(std::move(output_end)),
      reader_([this] { Read(); }) {}

FinalCommand::~FinalCommand() {
  if (reader_.joinable()) Finish(absl::ZeroDuration());
}

void FinalCommand::Read() {
  char buffer[4096];
  while (true) {
    // Still reads the output that was pending when the command was killed. Does
    // not wait for processes that escaped the process group, such as daemons.
    const bool is_over = is_over_;
    pollfd event = {.fd = output_end_.get(), .events = POLLIN, .revents = 0};
    if (poll(&event, 1, kReadPollMs) <= 0) {
      if (is_over) return;
      continue;
    }
    const ssize_t count = read(output_end_.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    const size_t room = kMaxOutputBytes - output_.size();
    output_.append(buffer, std::min<size_t>(room, count));
  }
}

FinalCommandOutcome FinalCommand::Finish(absl::Duration timeout) {
  FinalCommandOutcome outcome;
  const bool ended = process_.HasEnded(timeout);
  // With all that it has started, which may still hold the pipe.
  const int wait_status = process_.Finish();
  is_over_ = true;
  reader_.join();
  outcome.output = std::move(output_);
  if (!ended) {
    outcome.problem =
        absl::StrCat("had not ended ", absl::FormatDuration(timeout),
                     " after the final run, and was killed");
  } else if (wait_status != 0) {
    outcome.problem = base::DescribeExit(wait_status);
  }
  return outcome;
}

TestRunner FinalHook::Wrap(TestRunner run) {
  return [this, run = std::move(run)](
             const DistributedSystemDescription& test,
             const ProgressWatcher& watch) -> absl::StatusOr<TestResult> {
    if (probe_.request.phase != ProbePhase::kFinal) return run(test, watch);
    absl::StatusOr<TestResult> result =
        run(test, [&](const RunTestsEvent& event) {
          if (event.has_started()) StartCommand();
          return watch(event);
        });
    TestResult lost;
    FinishCommand(result.ok() ? *result : lost);
    return result;
  };
}

void FinalHook::StartCommand() {
  const absl::Time start = absl::Now() + probe_.timing.warmup;
  const absl::Time end = start + probe_.timing.measured;
  auto command = FinalCommand::Start(
      command_,
      {{"DISTBENCH_FINAL_START", IsoUtc(start)},
       {"DISTBENCH_FINAL_END", IsoUtc(end)},
       {"DISTBENCH_FINAL_START_UNIX", absl::StrCat(absl::ToUnixSeconds(start))},
       {"DISTBENCH_FINAL_END_UNIX", absl::StrCat(absl::ToUnixSeconds(end))},
       {"DISTBENCH_FINAL_LOAD", absl::StrCat(probe_.request.load)}});
  if (command.ok()) {
    running_ = *std::move(command);
  } else {
    start_problem_ = std::string(command.status().message());
  }
}

void FinalHook::FinishCommand(TestResult& result) {
  if (running_ == nullptr) {
    if (start_problem_.empty()) return;
    AddFinding(Finding::WARN, absl::StrCat(command_, ": ", start_problem_),
               result);
    start_problem_.clear();
    return;
  }
  const FinalCommandOutcome outcome = running_->Finish(kGrace);
  running_ = nullptr;
  if (outcome.problem.empty()) {
    AddFinding(Finding::NOTE, absl::StrCat(command_, ": ", outcome.output),
               result);
  } else {
    AddFinding(Finding::WARN,
               absl::StrCat(command_, ": the command ", outcome.problem, ". ",
                            outcome.output),
               result);
  }
}

void FinalHook::AddFinding(Finding::Severity severity, std::string message,
                           TestResult& result) const {
  Finding& finding = *result.mutable_run_info()->add_findings();
  finding.set_severity(severity);
  finding.set_code(kFinalCommandFinding);
  finding.set_message(std::move(message));
}

}  // namespace distbench::search
