// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_TEST_BUILDER_COMMAND_LINE_H_
#define DISTBENCH_TEST_BUILDER_COMMAND_LINE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/security/tls_files.h"
#include "test_builder/building/test_list.h"

namespace CLI {
class App;
}

namespace distbench::test_builder {

// The words NAME START STEP END follow it.
inline constexpr char kSweepWord[] = "parameter_sweep";

// The program, for its help, its manual page and its completion.
inline constexpr char kName[] = "test_builder";
inline constexpr char kDescription[] =
    "Writes tests from patterns, and runs them.";

struct CommandLine {
  // As typed, without the program's name.
  std::vector<std::string> arguments;

  TestListRequest tests;

  // The parts of tests.prefix, in their order.
  std::vector<std::string> prefixes;

  // "-" means standard output; otherwise a directory.
  std::string output = "-";

  // Of configs, one of config::ConfigFormatNames().
  std::string format = "text";

  // The HOST:PORT at which to run the tests; empty: only write them.
  std::string sequencer;
  security::TlsFiles tls;  // for the connection to the sequencer

  bool dry_run = false;

  // Accept tests whose numbers are false.
  bool allow_invalid = false;

  // Objectives for every test, and whether those that the evidence does not
  // decide count as met.
  std::vector<std::string> objectives;
  bool allow_undecided = false;

  // Print all details of results on a terminal.
  bool verbose = false;

  // Show no progress.
  bool quiet = false;

  // Whether only the version is asked for.
  bool version = false;

  // As ConnectionDefaults::Explain(), if tests run at a sequencer.
  std::function<std::vector<std::string>(absl::string_view error)> explain;

  // Whether help was requested, and its topic; empty: the whole program.
  bool help = false;
  std::string help_topic;
};

// Adds all flags and arguments to `app`. `line` must outlive the parsing.
void AddFlags(CLI::App& app, CommandLine& line);

// Parses the arguments. Flags of the connection that they leave out come from
// the environment and the user's file. The error says what is wrong and what
// would be right.
absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments,
    const flags::Environment& environment = flags::NoEnvironment());

// What text_of() says of all flags, such as their help.
std::string OfAllFlags(
    const std::function<std::string(const CLI::App& app)>& text_of);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_COMMAND_LINE_H_
