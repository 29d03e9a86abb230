// The subcommands, one file each. They turn flags into calls of the library.

#ifndef DISTBENCH_CLI_COMMANDS_H_
#define DISTBENCH_CLI_COMMANDS_H_

#include "distbench/cli/command_line.h"

namespace distbench::cli {

void AddAbTestCommand(CLI::App& app, CommandBody& chosen);
void AddBenchCommand(CLI::App& app, CommandBody& chosen);
void AddCalibrateCommand(CLI::App& app, CommandBody& chosen);
void AddCheckTestCommand(CLI::App& app, CommandBody& chosen);
void AddCompareCommand(CLI::App& app, CommandBody& chosen);
void AddCompleteCommand(CLI::App& app, CommandBody& chosen);
void AddControlGuardianCommand(CLI::App& app, CommandBody& chosen);
void AddEngineCommand(CLI::App& app, CommandBody& chosen);
void AddGenerateShellFilesCommand(CLI::App& app, CommandBody& chosen);
void AddHistoryCommand(CLI::App& app, CommandBody& chosen);
void AddImportCommand(CLI::App& app, CommandBody& chosen);
void AddJoinCommand(CLI::App& app, CommandBody& chosen);
void AddLaunchCommand(CLI::App& app, CommandBody& chosen);
void AddLaunchedCommand(CLI::App& app, CommandBody& chosen);
void AddLibfabricProvidersCommand(CLI::App& app, CommandBody& chosen);
void AddMakeSecretCommand(CLI::App& app, CommandBody& chosen);
void AddNodeManagerCommand(CLI::App& app, CommandBody& chosen);
void AddNoiseFloorCommand(CLI::App& app, CommandBody& chosen);
void AddNumaCompareCommand(CLI::App& app, CommandBody& chosen);
void AddProtectionCommand(CLI::App& app, CommandBody& chosen);
void AddReportCommand(CLI::App& app, CommandBody& chosen);
void AddRunTestsCommand(CLI::App& app, CommandBody& chosen);
void AddRunsCommand(CLI::App& app, CommandBody& chosen);
void AddSearchCommand(CLI::App& app, CommandBody& chosen);
void AddServeCommand(CLI::App& app, CommandBody& chosen);
void AddSimulateCommand(CLI::App& app, CommandBody& chosen);
void AddStatusCommand(CLI::App& app, CommandBody& chosen);
void AddTestPreviewCommand(CLI::App& app, CommandBody& chosen);
void AddTestSequencerCommand(CLI::App& app, CommandBody& chosen);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_COMMANDS_H_
