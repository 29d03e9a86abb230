// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "absl/status/status.h"
#include "distbench/base/process_setup.h"
#include "distbench/base/standard_output.h"
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
  const int exit_code = RunTestBuilder(
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
  const absl::Status printed = base::FinishStandardOutput();
  if (printed.ok()) return exit_code;
  std::cerr << "test_builder: " << printed.message() << std::endl;
  return std::max<int>(exit_code, report::kExitUsage);
}

}  // namespace
}  // namespace distbench::test_builder

int main(int argc, char** argv) {
  return distbench::test_builder::Main(argc, argv);
}
