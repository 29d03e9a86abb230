// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_TEST_BUILDER_APP_H_
#define DISTBENCH_TEST_BUILDER_APP_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "distbench/flags/connection_defaults.h"
#include "distbench/security/tls_files.h"
#include "test_builder/run/test_runner.h"

namespace distbench::test_builder {

// The environment of test_builder, which tests replace.
struct AppEnvironment {
  // Without what the command line says: how many tests there are, and how
  // results are printed.
  RunConsole console;

  std::string version = "";  // what --version prints

  // Has defaults of the connection's flags.
  flags::Environment variables = flags::NoEnvironment();

  // Creates a backend for the sequencer at an address.
  std::function<std::unique_ptr<TestBackend>(const std::string& address,
                                             const security::TlsFiles& tls)>
      make_backend;
};

// Executes the arguments (without the program's name). Returns an ExitCode.
int RunTestBuilder(const std::vector<std::string>& arguments,
                   const AppEnvironment& environment);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_APP_H_
