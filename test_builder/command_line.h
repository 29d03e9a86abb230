#ifndef TEST_BUILDER_COMMAND_LINE_H_
#define TEST_BUILDER_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/flags/completion.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/flags/man_page.h"
#include "distbench/security/tls_files.h"
#include "test_builder/building/test_list.h"

namespace CLI {
class App;
}

namespace distbench::test_builder {

// The words NAME START STEP END follow it.
inline constexpr char kSweepWord[] = "parameter_sweep";

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

  // As of ConnectionDefaults::Filled().
  std::vector<std::string> filled;

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

// The help text for the flags, and the manual page with them.
std::string FlagHelp();
std::string FlagManPage(const flags::ManPageOptions& options);

// What may come next on a command line of test_builder.

// `words` as for Complete().
flags::Completion CompleteTestBuilder(std::vector<std::string> words);

// What a CONFIG such as "clique:grpc:node_c" may become: patterns, then
// protocols and parameters after its last ':', or the choices of a parameter
// after its '='. The candidates are whole CONFIGs.
std::vector<flags::Candidate> ConfigCandidates(const std::string& typed);

}  // namespace distbench::test_builder

#endif  // TEST_BUILDER_COMMAND_LINE_H_
