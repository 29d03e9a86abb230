// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The subcommands of the core: a file for each, or for those of one subject.
// They turn flags into calls of the library.

#ifndef DISTBENCH_CLI_COMMANDS_H_
#define DISTBENCH_CLI_COMMANDS_H_

#include <vector>

#include "distbench/cli/command.h"

namespace distbench::cli {

void AddCheckTestCommand(CLI::App& app, CommandBody& chosen);
void AddCompareCommand(CLI::App& app, CommandBody& chosen);
void AddCompleteCommand(CLI::App& app, CommandBody& chosen);
void AddEngineCommand(CLI::App& app, CommandBody& chosen);
void AddGenerateShellFilesCommand(CLI::App& app, CommandBody& chosen);
void AddMakeSecretCommand(CLI::App& app, CommandBody& chosen);
void AddNodeManagerCommand(CLI::App& app, CommandBody& chosen);
void AddReportCommand(CLI::App& app, CommandBody& chosen);
void AddRunTestsCommand(CLI::App& app, CommandBody& chosen);
void AddRunsCommand(CLI::App& app, CommandBody& chosen);
void AddStatusCommand(CLI::App& app, CommandBody& chosen);
void AddTestPreviewCommand(CLI::App& app, CommandBody& chosen);
void AddTestSequencerCommand(CLI::App& app, CommandBody& chosen);

inline std::vector<Command> CoreCommands() {
  return {
      {HelpSection::kProcesses, AddTestSequencerCommand},
      {HelpSection::kProcesses, AddNodeManagerCommand},
      {HelpSection::kProcesses, AddMakeSecretCommand},
      {HelpSection::kRuns, AddRunTestsCommand},
      {HelpSection::kRuns, AddRunsCommand},
      {HelpSection::kTests, AddCheckTestCommand},
      {HelpSection::kTests, AddTestPreviewCommand},
      {HelpSection::kOutcomes, AddStatusCommand},
      {HelpSection::kOutcomes, AddReportCommand},
      {HelpSection::kOutcomes, AddCompareCommand},
      {HelpSection::kHidden, AddEngineCommand},
      {HelpSection::kHidden, AddCompleteCommand},
      {HelpSection::kHidden, AddGenerateShellFilesCommand},
  };
}

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_COMMANDS_H_
