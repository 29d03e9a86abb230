// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Output of the tests that a subcommand ran.

#ifndef DISTBENCH_CLI_TEST_OUTPUT_H_
#define DISTBENCH_CLI_TEST_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/cli/command.h"
#include "distbench/client/console_run.h"

namespace CLI {
class App;
}

namespace distbench::cli {

struct TestOutputFlags {
  std::string outfile;
  bool binary_output = false;
  bool legacy_text = false;
  bool allow_invalid = false;
  bool legacy_exit_status = false;
  bool verbose = false;
  std::vector<std::string> objectives;
  CheckFlags checks;
};

// Adds --outfile, --binary_output, --legacy_text, --allow_invalid and
// --legacy_exit_status, whose default is whether the environment has
// DISTBENCH_LEGACY_EXIT_STATUS, for scripts that cannot add flags. `flags` must
// outlive the parsing.
void AddTestOutputFlags(CLI::App& command, TestOutputFlags& flags);

// Adds these, and for commands that also print and judge results --slo, the
// flags of AddCheckFlags(), and --verbose.
void AddResultFlags(CLI::App& command, TestOutputFlags& flags);

// Checks that a result can be written to the outfile, and that the objectives
// are valid. Call this before a long test.
absl::Status CheckOutput(const TestOutputFlags& flags);

// Prints a test's result to stdout, for a terminal or for programs. `flags`
// must outlive the printer. If the flags name files, the process no longer ends
// when stdout has no reader.
client::ResultPrinter PrinterOf(const TestOutputFlags& flags);

// The ExitCode of a run that failed, by how the call of TestClient that ran or
// got it ended, and whether anything had begun: kExitUsage if the tests were
// refused; kExitRunFailed if traffic was sent, or if the run might have gone
// well, but was ended from outside (CANCELLED, ABORTED), its result is lost
// (DATA_LOSS), the sequencer is (UNAVAILABLE), or somebody does not answer
// (DEADLINE_EXCEEDED).
int ExitCodeOfFailure(const absl::Status& status, bool has_begun);

// The same by why its tests failed: kExitRunFailed if that holds of any.
int ExitCodeOfFailures(const TestSequenceResults& results);

// Writes the files that the flags name, prints which objectives were met,
// unless the printer has done so, prints errors, and returns the ExitCode; or,
// with legacy_exit_status, 0 if all tests ran to their end and met their
// objectives, whatever was measured, and otherwise 1.
int FinishRun(const client::ConsoleRun& run, const TestOutputFlags& flags);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_TEST_OUTPUT_H_
