#include "distbench/search/benchpress/final_hook.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace distbench {
namespace {

std::string IsoUtc(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

}  // namespace

TestRunner FinalHook::Wrap(TestRunner run) {
  return [this, run = std::move(run)](const DistributedSystemDescription& test,
                                      const ProgressWatcher& watch)
             -> absl::StatusOr<TestResult> {
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

}  // namespace distbench
