// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/test_output.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/terminal.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/report/terminal/terminal_view.h"
#include "distbench/results/legacy_results.h"
#include "distbench/results/output_file.h"
#include "distbench/results/result_file.h"

namespace distbench::cli {

void AddTestOutputFlags(CLI::App& command, TestOutputFlags& flags) {
  AddOutputFlag(command, "--outfile", flags.outfile,
                "Write all measurements here, compressed if the name\n"
                "ends in .gz; default: nowhere");
  AddSwitch(command, "--binary_output", flags.binary_output,
            "Write the outfile in binary instead of text");
  AddSwitch(command, "--legacy_text", flags.legacy_text,
            "Leave out of the text what programs for the original\n"
            "format cannot parse; statistics and findings are among it");
  AddSwitch(command, "--allow_invalid", flags.allow_invalid,
            "Exit 0 also if the numbers are found to be false");
  const char* legacy = std::getenv("DISTBENCH_LEGACY_EXIT_STATUS");
  flags.legacy_exit_status = legacy != nullptr && *legacy != '\0';
  AddSwitch(command, "--legacy_exit_status", flags.legacy_exit_status,
            "Exit 0 if all tests ran to their end, also at an overload\n"
            "or with false numbers, and otherwise 1, as scripts for the\n"
            "original expect; default: as the environment variable\n"
            "DISTBENCH_LEGACY_EXIT_STATUS says, if it is not empty");
}

void AddResultFlags(CLI::App& command, TestOutputFlags& flags) {
  AddTestOutputFlags(command, flags);
  AddRepeatedFlag(command, "--slo", flags.objectives, "OBJECTIVE",
                  "Exit 2 unless each test meets this objective, such as\n"
                  "'query p99<=5ms'; in addition to those of the test. May be\n"
                  "repeated");
  AddCheckFlags(command, flags.checks);
  AddSwitch(command, "--verbose", flags.verbose,
            "Print the whole summary on a terminal, too");
}

absl::Status CheckOutput(const TestOutputFlags& flags) {
  if (absl::Status status = CheckObjectiveFlags(flags.objectives);
      !status.ok()) {
    return status;
  }
  if (flags.legacy_text && (flags.outfile.empty() || flags.binary_output)) {
    return absl::InvalidArgumentError(
        "--legacy_text is about a text outfile; give --outfile, and leave out "
        "--binary_output, whose readers skip what they do not know");
  }
  if (flags.outfile.empty()) return absl::OkStatus();
  std::error_code ignored;
  const std::filesystem::file_status existing =
      std::filesystem::status(flags.outfile, ignored);
  // Opening and closing a pipe would signal the end of input to its reader.
  if (std::filesystem::is_other(existing)) return absl::OkStatus();
  return results::OutputFile::Open(flags.outfile).status();
}

namespace {

bool AllRanToTheirEnd(const TestSequenceResults& results) {
  return absl::c_all_of(results.test_results(), [](const TestResult& result) {
    const report::RunOutcome outcome = report::OutcomeOf(result);
    return outcome != report::RunOutcome::kLost &&
           outcome != report::RunOutcome::kTimedOut;
  });
}

int CountInvalid(const TestSequenceResults& results) {
  return std::count_if(
      results.test_results().begin(), results.test_results().end(),
      [](const TestResult& result) {
        return report::OutcomeOf(result) == report::RunOutcome::kInvalid;
      });
}

bool WritesFiles(const TestOutputFlags& flags) {
  return !flags.outfile.empty() || !flags.checks.junit.empty() ||
         !flags.checks.markdown.empty();
}

absl::Status WriteOutfile(const client::ConsoleRun& run,
                          const TestOutputFlags& flags) {
  if (flags.outfile.empty() || run.results.test_results().empty()) {
    return absl::OkStatus();
  }
  if (!flags.legacy_text) {
    return results::WriteResults(run.results, flags.outfile,
                                 flags.binary_output
                                     ? results::ResultEncoding::kBinary
                                     : results::ResultEncoding::kText);
  }
  TestSequenceResults results = run.results;
  results::DropExtensions(results);
  return results::WriteResults(results, flags.outfile,
                               results::ResultEncoding::kText);
}

// Writes files before it prints, as FinishRun() does.
int CheckAllObjectives(const client::ConsoleRun& run,
                       const TestOutputFlags& flags) {
  std::vector<report::Check> checks;
  std::vector<report::Check> in_files;
  for (const TestResult& result : run.results.test_results()) {
    in_files.push_back(report::CheckRun(result, flags.allow_invalid));
    for (report::Check& check :
         report::CheckObjectives(result, flags.objectives)) {
      in_files.push_back(check);
      checks.push_back(std::move(check));
    }
  }
  const absl::Status written = WriteChecks(in_files, flags.checks);
  const bool were_shown =
      run.printed_results && base::TerminalOf(STDOUT_FILENO).is_terminal;
  if (!checks.empty() && !were_shown) {
    std::cout << "Objectives:\n" << report::ChecksText(checks) << std::flush;
  }
  if (!written.ok()) return Fail(written, report::kExitRunFailed);
  return report::AllPass(checks, flags.checks.allow_undecided)
             ? report::kExitOk
             : report::kExitGateNotMet;
}

}  // namespace

client::ResultPrinter PrinterOf(const TestOutputFlags& flags) {
  // Who reads stdout, such as head(1), may end long before a run whose results
  // are for files.
  if (WritesFiles(flags)) signal(SIGPIPE, SIG_IGN);
  return [&flags](const TestResult& result) {
    std::cout << report::ResultText(
                     result, {.terminal = base::TerminalOf(STDOUT_FILENO),
                              .verbose = flags.verbose,
                              .objectives = flags.objectives})
              << std::flush;
  };
}

int ExitCodeOfFailure(const absl::Status& status, bool has_begun) {
  const bool might_have_gone_well =
      absl::IsCancelled(status) || absl::IsAborted(status) ||
      absl::IsDataLoss(status) || absl::IsUnavailable(status) ||
      absl::IsDeadlineExceeded(status);
  return has_begun || might_have_gone_well ? report::kExitRunFailed
                                           : report::kExitUsage;
}

int ExitCodeOfFailures(const TestSequenceResults& results) {
  int exit_code = report::kExitUsage;
  for (const TestResult& result : results.test_results()) {
    const RunInfo& info = result.run_info();
    const absl::Status failure(
        static_cast<absl::StatusCode>(info.failure_code()), info.failure());
    exit_code = std::max(
        exit_code, ExitCodeOfFailure(failure, info.has_start_timestamp_ns()));
  }
  return exit_code;
}

int FinishRun(const client::ConsoleRun& run, const TestOutputFlags& flags) {
  // First: what follows is printed, and may take long to be read.
  const absl::Status written = WriteOutfile(run, flags);
  int exit_code = report::ExitCodeFor(run.results, flags.allow_invalid);
  if (const int count = CountInvalid(run.results); count > 0) {
    Fail(absl::StrCat(count, count == 1 ? " test is" : " tests are",
                      " invalid; see the findings in the summary",
                      flags.allow_invalid
                          ? ""
                          : "; --allow_invalid exits 0 nevertheless"),
         exit_code);
  }
  const int objectives = CheckAllObjectives(run, flags);
  exit_code = std::max(exit_code, objectives);
  if (!run.status.ok()) exit_code = Fail(run.status, report::kExitRunFailed);
  if (!written.ok()) exit_code = Fail(written, report::kExitRunFailed);
  if (flags.legacy_exit_status) {
    const bool ok = run.status.ok() && written.ok() &&
                    objectives == report::kExitOk &&
                    AllRanToTheirEnd(run.results);
    return ok ? report::kExitOk : report::kExitUsage;
  }
  return exit_code == report::kExitRunFailed
             ? std::max(ExitCodeOfFailure(run.status, run.traffic_started),
                        ExitCodeOfFailures(run.results))
             : exit_code;
}

}  // namespace distbench::cli
