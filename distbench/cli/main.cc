#include "distbench/base/process_setup.h"
#include "distbench/cli/command_line.h"
#include "distbench/cli/commands.h"

int main(int argc, char** argv) {
  using namespace distbench;
  SetUpProcess(argv[0]);
  return RunCommandLine(
      {
          AddTestSequencerCommand,
          AddNodeManagerCommand,
          AddEngineCommand,
          AddControlGuardianCommand,
          AddLaunchCommand,
          AddLaunchedCommand,
          AddRunTestsCommand,
          AddRunsCommand,
          AddAbTestCommand,
          AddSearchCommand,
          AddNumaCompareCommand,
          AddProtectionCommand,
          AddBenchCommand,
          AddCheckTestCommand,
          AddTestPreviewCommand,
          AddCalibrateCommand,
          AddStatusCommand,
          AddReportCommand,
          AddCompareCommand,
          AddNoiseFloorCommand,
      },
      {argv + 1, argv + argc});
}
