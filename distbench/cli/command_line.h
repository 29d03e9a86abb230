// What the user typed: finds the subcommand, explains what can not be
// understood, and helps.

#ifndef DISTBENCH_CLI_COMMAND_LINE_H_
#define DISTBENCH_CLI_COMMAND_LINE_H_

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace distbench {

// What a subcommand does; returns an ExitCode.
using CommandBody = std::function<int()>;

// Adds a subcommand to `app`. Its body is stored in `chosen` when the user
// names the subcommand.
using AddCommand = void (*)(CLI::App& app, CommandBody& chosen);

// Runs what the arguments (without the program's name) ask for. Help goes to
// stdout; what is wrong with the arguments, and what may have been meant, to
// stderr. Returns an ExitCode.
int RunCommandLine(const std::vector<AddCommand>& commands,
                   std::vector<std::string> arguments);

}  // namespace distbench

#endif  // DISTBENCH_CLI_COMMAND_LINE_H_
