#include <unistd.h>

#include <iostream>

#include "distbench/base/process_setup.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/terminal.h"
#include "distbench/base/version.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/report/findings/findings.h"
#include "test_builder/app.h"
#include "test_builder/run/test_runner.h"

namespace distbench::test_builder {
namespace {

int Main(int argc, char** argv) {
  base::SetUpProcess(argv[0]);
  base::StopSignals stop(report::kExitRunFailed);
  return RunTestBuilder(
      {argv + 1, argv + argc},
      {.console = {.output = &std::cout,
                   .messages = &std::cerr,
                   .result_text = {.terminal = base::TerminalOf(STDOUT_FILENO)},
                   .progress = client::StderrProgress(/*test_count=*/1),
                   .stop = &stop},
       .version = base::VersionText(),
       .variables = flags::ProcessEnvironment(),
       .make_backend = [](const std::string& address,
                          const security::TlsFiles& tls) {
         return std::make_unique<SequencerBackend>(address, tls);
       }});
}

}  // namespace
}  // namespace distbench::test_builder

int main(int argc, char** argv) {
  return distbench::test_builder::Main(argc, argv);
}
