// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What subcommands are made of, and what they write. Their files need this and
// flags.h, and not CLI11.

#ifndef DISTBENCH_CLI_COMMAND_H_
#define DISTBENCH_CLI_COMMAND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/base/stop_signals.h"
#include "distbench/flags/flags.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/results/output_file.h"

namespace CLI {
class App;
}

namespace distbench::cli {

// The body of a subcommand; returns an ExitCode. An error that it returns is
// printed, and the exit code is that of errors before any traffic.
using CommandBody = std::function<absl::StatusOr<int>()>;

// Where the help lists a command.
enum class HelpSection {
  kProcesses,  // runs for as long as a job or a cluster
  kRuns,       // runs tests
  kTests,      // makes, checks or tries out tests
  kOutcomes,   // shows the state of a cluster, or results
  kHidden,     // is for programs: not listed, see HideSubcommand()
};

// A subcommand of the program. A product adds its own as a
// base::Plugin<Command> under the subcommand's name.
struct Command {
  HelpSection section;

  // Adds it to `app`, and stores its body in `chosen` when the user names it.
  void (*add)(CLI::App& app, CommandBody& chosen);
};

// As the commands of any program.
using flags::AddSubcommand;
using flags::AllowOneSubcommand;
using flags::HideSubcommand;
using flags::SetFooter;

// Stores the body in `chosen` when the user names the command. `chosen` must
// outlive the parsing.
void SetBody(CLI::App& command, CommandBody& chosen, CommandBody body);

// The same, for a command that SIGINT and SIGTERM end in order: by `stop`. As
// long as its body has set no handler, there is nothing to keep, and they end
// the process.
using StoppableBody =
    std::function<absl::StatusOr<int>(base::StopSignals& stop)>;
void SetStoppableBody(CLI::App& command, CommandBody& chosen,
                      StoppableBody body);

// ---- What subcommands write -------------------------------------------------

// Returns what helps with an error: lines without an end, maybe none.
using ErrorHelp =
    std::function<std::vector<std::string>(absl::string_view error)>;

// Makes Fail() print the help below its errors. Before the command runs.
void SetErrorHelp(ErrorHelp help);

// Prints the error to stderr, and returns `exit_code`.
int Fail(const absl::Status& error, int exit_code);
int Fail(absl::string_view message, int exit_code);

// Returns the exit code of a process that has printed all of its output, after
// commands that ended with `exit_code`: the same, but no success if stdout
// could not take it, which is printed to stderr. Output that is lost silently
// is taken for empty.
int FinishOutput(int exit_code);

// The destination of a report that is written piece by piece. An empty path
// means stdout.
absl::StatusOr<std::unique_ptr<results::OutputFile>> OpenReport(
    const std::string& path);

// Writes a whole report. An empty path means stdout.
absl::Status WriteReport(const std::string& path, absl::string_view text);

// Where the verdicts on conditions go, and what they are: objectives of runs,
// or gates of comparisons.
struct CheckFlags {
  std::string junit;
  std::string markdown;
  bool allow_undecided = false;
};

// --junit, --markdown and --allow_undecided. `flags` must outlive the parsing.
void AddCheckFlags(CLI::App& command, CheckFlags& flags);

// Writes the files that the flags name. The error names the file.
absl::Status WriteChecks(absl::Span<const report::Check> checks,
                         const CheckFlags& flags);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_COMMAND_H_
