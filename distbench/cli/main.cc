// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "distbench/base/plugins.h"
#include "distbench/base/process_setup.h"
#include "distbench/cli/command.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/commands.h"
#include "distbench/flags/connection_defaults.h"

namespace distbench::cli {
namespace {

// Those of the core, and then those of products.
std::vector<Command> AllCommands() {
  std::vector<Command> commands = CoreCommands();
  for (const auto& [name, command] : base::Plugins<Command>::All()) {
    commands.push_back(*command);
  }
  return commands;
}

int Main(int argc, char** argv) {
  base::SetUpProcess(argv[0]);
  return FinishOutput(RunCommandLine(AllCommands(), {argv + 1, argv + argc},
                                     flags::ProcessEnvironment()));
}

}  // namespace
}  // namespace distbench::cli

int main(int argc, char** argv) { return distbench::cli::Main(argc, argv); }
