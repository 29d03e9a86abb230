#include <unistd.h>

#include <iostream>

#include "distbench/base/process_setup.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/terminal.h"
#include "distbench/cli/version_text.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/report/findings/verdict.h"
#include "test_builder/app.h"
#include "test_builder/run/sequencer_backend.h"

int main(int argc, char** argv) {
  using namespace distbench;
  SetUpProcess(argv[0]);
  StopSignals stop(kExitRunFailed);
  AppEnvironment environment;
  environment.output = &std::cout;
  environment.messages = &std::cerr;
  environment.version = VersionText();
  environment.variables = ProcessEnvironment();
  environment.terminal = TerminalOf(STDOUT_FILENO);
  environment.make_backend = [](const std::string& address,
                                const TlsFiles& tls) {
    return std::make_unique<SequencerBackend>(address, tls);
  };
  environment.make_progress = &StderrProgress;
  environment.stop_requested = [&stop] { return stop.requested(); };
  environment.set_stop_handler = [&stop](std::function<void()> handler) {
    stop.SetHandler(std::move(handler));
  };
  return RunTestBuilder({argv + 1, argv + argc}, environment);
}
