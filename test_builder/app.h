#ifndef DISTBENCH_TEST_BUILDER_APP_H_
#define DISTBENCH_TEST_BUILDER_APP_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "distbench/base/terminal.h"
#include "distbench/client/progress_display.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/security/tls_files.h"
#include "test_builder/run/test_runner.h"

namespace distbench::test_builder {

// The environment of test_builder, which tests replace.
struct AppEnvironment {
  std::ostream* output;          // results: configs, summaries, help
  std::ostream* messages;        // progress, notes, errors
  std::string version = "";      // what --version prints
  base::Terminal terminal = {};  // what `output` is

  // Has defaults of the connection's flags.
  flags::Environment variables = flags::NoEnvironment();

  // Creates a backend for the sequencer at an address.
  std::function<std::unique_ptr<TestBackend>(const std::string& address,
                                             const security::TlsFiles& tls)>
      make_backend;

  // Returns the options for this number of tests; if `quiet`, those of a
  // display that shows nothing.
  std::function<client::ProgressDisplayOptions(int test_count, bool quiet)>
      make_progress;

  // Whether the user has asked to stop, and a way to set the handler that is
  // called when they do; {} removes it.
  std::function<bool()> stop_requested;
  std::function<void(std::function<void()> handler)> set_stop_handler;
};

// Executes the arguments (without the program's name). Returns an ExitCode.
int RunTestBuilder(const std::vector<std::string>& arguments,
                   const AppEnvironment& environment);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_APP_H_
