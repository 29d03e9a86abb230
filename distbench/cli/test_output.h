// Output of the tests that a subcommand ran.

#ifndef DISTBENCH_CLI_TEST_OUTPUT_H_
#define DISTBENCH_CLI_TEST_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "distbench/client/console_run.h"

namespace CLI {
class App;
}

namespace distbench {

struct TestOutputFlags {
  std::string outfile;
  bool binary_output = false;
  bool allow_invalid = false;
};

// Adds --outfile, --binary_output and --allow_invalid. `flags` must outlive the
// parsing.
void AddTestOutputFlags(CLI::App& command, TestOutputFlags& flags);

// Checks that a result can be written to the outfile. Call this before a long
// test.
absl::Status CheckOutfile(const TestOutputFlags& flags);

// Writes the outfile if there is one, prints errors, and returns the ExitCode.
int FinishRun(const ConsoleRun& run, const TestOutputFlags& flags);

}  // namespace distbench

#endif  // DISTBENCH_CLI_TEST_OUTPUT_H_
