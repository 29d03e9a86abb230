#ifndef DISTBENCH_TEST_BUILDER_COMMAND_LINE_H_
#define DISTBENCH_TEST_BUILDER_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/security/tls_files.h"
#include "test_builder/test_list.h"

namespace distbench {

struct CommandLine {
  // As typed, without the program's name.
  std::vector<std::string> arguments;

  TestListRequest tests;

  // "-" is standard output; a directory otherwise.
  std::string output = "-";

  // HOST:PORT to run the tests at; empty: only write them.
  std::string sequencer;
  TlsFiles tls;  // of the connection to it

  bool dry_run = false;

  // Tests whose numbers are false count as well.
  bool allow_invalid = false;

  // Help was asked for, about this topic: the whole program if it is empty.
  bool help = false;
  std::string help_topic;
};

// The error says what is wrong and what would be right.
absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments);

// What --help says of the flags.
std::string FlagHelp();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_COMMAND_LINE_H_
