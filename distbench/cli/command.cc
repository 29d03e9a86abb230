// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/command.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/standard_output.h"
#include "distbench/cli/flags.h"
#include "distbench/report/findings/findings.h"

namespace distbench::cli {

void SetBody(CLI::App& command, CommandBody& chosen, CommandBody body) {
  flags::AfterParsing(command,
                      [body = std::move(body), &chosen] { chosen = body; });
}

void SetStoppableBody(CLI::App& command, CommandBody& chosen,
                      StoppableBody body) {
  SetBody(command, chosen, [body = std::move(body)] {
    base::StopSignals stop(report::kExitRunFailed);
    stop.SetHandler([] { std::_Exit(report::kExitRunFailed); });
    return body(stop);
  });
}

namespace {

ErrorHelp& TheErrorHelp() {
  static ErrorHelp* const help = new ErrorHelp;
  return *help;
}

}  // namespace

void SetErrorHelp(ErrorHelp help) { TheErrorHelp() = std::move(help); }

int Fail(const absl::Status& error, int exit_code) {
  return Fail(error.message(), exit_code);
}

int Fail(absl::string_view message, int exit_code) {
  std::cerr << "distbench: " << message << std::endl;
  if (TheErrorHelp() == nullptr) return exit_code;
  for (const std::string& line : TheErrorHelp()(message)) {
    std::cerr << "distbench: " << line << std::endl;
  }
  return exit_code;
}

int FinishOutput(int exit_code) {
  const absl::Status printed = base::FinishStandardOutput();
  if (printed.ok()) return exit_code;
  return std::max(exit_code, Fail(printed, report::kExitUsage));
}

namespace {

std::string PathOf(const std::string& path) {
  return path.empty() ? "/dev/stdout" : path;
}

}  // namespace

absl::StatusOr<std::unique_ptr<results::OutputFile>> OpenReport(
    const std::string& path) {
  return results::OutputFile::Open(PathOf(path));
}

absl::Status WriteReport(const std::string& path, absl::string_view text) {
  return results::WriteFile(PathOf(path), text);
}

void AddCheckFlags(CLI::App& command, CheckFlags& flags) {
  AddOutputFlag(command, "--junit", flags.junit,
                "Write the verdicts on all conditions as JUnit XML");
  AddOutputFlag(command, "--markdown", flags.markdown,
                "Write them as a Markdown table");
  AddSwitch(command, "--allow_undecided", flags.allow_undecided,
            "Do not exit 2 where the evidence is too thin for a\n"
            "verdict");
}

absl::Status WriteChecks(absl::Span<const report::Check> checks,
                         const CheckFlags& flags) {
  absl::Status status;
  if (!flags.junit.empty()) {
    status = WriteReport(flags.junit, report::RenderJunit(report::JunitCases(
                                          checks, flags.allow_undecided)));
  }
  if (status.ok() && !flags.markdown.empty()) {
    status = WriteReport(flags.markdown, report::ChecksMarkdown(checks));
  }
  return status;
}

}  // namespace distbench::cli
