// What subcommands are made of. Their files need this and flags.h, and not
// CLI11.

#ifndef DISTBENCH_CLI_COMMAND_H_
#define DISTBENCH_CLI_COMMAND_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/base/stop_signals.h"
#include "distbench/flags/flags.h"

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

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_COMMAND_H_
