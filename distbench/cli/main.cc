#include "distbench/base/process_setup.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/commands.h"
#include "distbench/flags/connection_defaults.h"

namespace distbench::cli {
namespace {

int Main(int argc, char** argv) {
  base::SetUpProcess(argv[0]);
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
      {argv + 1, argv + argc}, flags::ProcessEnvironment());
}

}  // namespace
}  // namespace distbench::cli

int main(int argc, char** argv) { return distbench::cli::Main(argc, argv); }
