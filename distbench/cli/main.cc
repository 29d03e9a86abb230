#include "distbench/base/process_setup.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/commands.h"
#include "distbench/flags/connection_defaults.h"

int main(int argc, char** argv) {
  using namespace distbench;
  SetUpProcess(argv[0]);
  return RunCommandLine(
      {
          AddTestSequencerCommand,
          AddNodeManagerCommand,
          AddJoinCommand,
          AddMakeSecretCommand,
          AddLaunchCommand,
          AddLaunchedCommand,
          AddEngineCommand,
          AddControlGuardianCommand,
          AddRunTestsCommand,
          AddRunsCommand,
          AddAbTestCommand,
          AddSearchCommand,
          AddNumaCompareCommand,
          AddProtectionCommand,
          AddBenchCommand,
          AddImportCommand,
          AddCheckTestCommand,
          AddTestPreviewCommand,
          AddSimulateCommand,
          AddCalibrateCommand,
          AddStatusCommand,
          AddReportCommand,
          AddCompareCommand,
          AddNoiseFloorCommand,
          AddHistoryCommand,
          AddServeCommand,
          AddCompleteCommand,
          AddGenerateShellFilesCommand,
          AddLibfabricProvidersCommand,
      },
      {argv + 1, argv + argc}, ProcessEnvironment());
}
