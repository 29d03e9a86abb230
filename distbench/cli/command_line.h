// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Parses the command line: finds the subcommand, explains errors and prints
// help.

#ifndef DISTBENCH_CLI_COMMAND_LINE_H_
#define DISTBENCH_CLI_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "distbench/cli/command.h"
#include "distbench/flags/connection_defaults.h"

namespace CLI {
class App;
}

namespace distbench::cli {

// Lets the command take another command line after "--", with flags of its own,
// and stores its words. `words` must outlive the parsing.
void AddTrailingCommand(CLI::App& command, std::vector<std::string>& words);

// Runs the command that `arguments` (without the program's name) ask for. The
// help lists the commands by their sections, and those of a section in the
// order of `commands`. Flags of the connection that they leave out come from
// the environment and the user's file. Prints help to stdout; prints usage
// errors and suggestions to stderr. Returns an ExitCode.
int RunCommandLine(std::vector<Command> commands,
                   std::vector<std::string> arguments,
                   const flags::Environment& environment);

// The path of this program, with which other commands of it can be started.
absl::StatusOr<std::string> OwnProgram();

// ---- Flags as existing scripts write them -----------------------------------

struct TranslatedFlags {
  std::vector<std::string> arguments;

  // What became of the flags that distbench does not have, for the user.
  std::vector<std::string> notes;
};

// What the translation has to know of the program and of the host. Names are
// without dashes.
struct LegacyFlagFacts {
  // Whether any command has the flag, and whether the one that the arguments
  // name has it as one without a value.
  absl::FunctionRef<bool(const std::string& name)> has_flag;
  absl::FunctionRef<bool(const std::string& name)> is_switch;

  // AddressOfDevice() (exposure.h), whose errors are returned.
  absl::FunctionRef<absl::StatusOr<std::string>(const std::string& device)>
      address_of;
};

// Returns the arguments (without the program's name) in distbench's form:
// - "-flag" as "--flag", if a command has it;
// - "--noflag" as "--flag=false", if the command's flag takes no value;
// - "--helpfull" as "--help";
// - "--control_plane_device=D" as "--listen=ADDRESS", and left out for a node
//   manager, to which nothing connects;
// - "--default_data_plane_device=D" of a node manager as
//   "--service_address=ADDRESS", and left out for others;
// - without "--prefer_ipv4".
// What follows "--" stays as it is.
absl::StatusOr<TranslatedFlags> TranslateLegacyFlags(
    const std::vector<std::string>& arguments, const LegacyFlagFacts& facts);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_COMMAND_LINE_H_
