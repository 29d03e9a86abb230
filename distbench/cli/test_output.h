// Output of the tests that a subcommand ran.

#ifndef DISTBENCH_CLI_TEST_OUTPUT_H_
#define DISTBENCH_CLI_TEST_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/cli/check_output.h"
#include "distbench/client/console_run.h"

namespace CLI {
class App;
}

namespace distbench {

struct TestOutputFlags {
  std::string outfile;
  bool binary_output = false;
  bool allow_invalid = false;
  std::vector<std::string> objectives;
  CheckFlags checks;
};

// --outfile, --binary_output, --allow_invalid, --slo and those of
// AddCheckFlags(). `flags` must outlive the parsing.
void AddTestOutputFlags(CLI::App& command, TestOutputFlags& flags);

// Whether a result can be written to the outfile and the objectives can be
// understood: to be found out before a long test, not after it.
absl::Status CheckOutput(const TestOutputFlags& flags);

// Prints which objectives were met, writes the files that the flags name, says
// what went wrong, and returns the ExitCode.
int FinishRun(const ConsoleRun& run, const TestOutputFlags& flags);

}  // namespace distbench

#endif  // DISTBENCH_CLI_TEST_OUTPUT_H_
