// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The flags of the connection to a sequencer, where the command line does not
// give them: from the environment (DISTBENCH_TEST_SEQUENCER, DISTBENCH_TLS_CA
// and so on), else from the user's file. All programs treat them alike. A
// command with one that only its command line can give
// (TakeOnlyFromCommandLine()) has a connection only if it is given, and then
// the rest from here.

#ifndef DISTBENCH_FLAGS_CONNECTION_DEFAULTS_H_
#define DISTBENCH_FLAGS_CONNECTION_DEFAULTS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace CLI {
class App;
}

namespace distbench::flags {

// Looks up an environment variable; nothing if it is not set.
using Environment =
    std::function<std::optional<std::string>(const std::string& name)>;

// The environment of this process, and one without any variable, with which
// there is no user's file either.
Environment ProcessEnvironment();
Environment NoEnvironment();

// "NAME=" for each variable: for the environment of a process that must have no
// flags but those that it is given.
std::vector<std::string> NoConnectionDefaults();

// Not thread-safe. Must outlive the apps that it is announced to.
class ConnectionDefaults {
 public:
  // Reads $XDG_CONFIG_HOME/distbench/config, or ~/.config/distbench/config: a
  // line for each flag, such as "test_sequencer = host1:10000"; '#' begins a
  // comment. Paths are relative to the file's folder. There need not be a file.
  // Of a variable that is set, even to nothing, the file's value does not
  // count.
  explicit ConnectionDefaults(const Environment& environment);

  // Says in the descriptions of the flags, in all commands, that they have a
  // variable, and lets the command line leave out what has a default. Call this
  // before the app parses.
  void Announce(CLI::App& app);

  // Sets the flags of the command that its command line left out. Call this
  // after the parse. INVALID_ARGUMENT names the variable, or the file and the
  // line, and what is wrong there. A file with an error is an error for every
  // command with these flags.
  absl::Status Fill(CLI::App& command);

  // For users who wonder about an error after Fill(): if it mentions the value
  // of a flag of the connection, such as the sequencer's address, what was
  // filled in and where it came from ("--tls_ca=/x/ca.crt is from
  // DISTBENCH_TLS_CA"). Nothing for the command of `distbench join`, which sets
  // all variables itself, and DISTBENCH_IN_JOB.
  std::vector<std::string> Explain(absl::string_view error) const;

  // The value of a flag such as "test_sequencer"; empty if it has none.
  std::string ValueOf(const std::string& flag) const;

  // Where the file is, or would be; empty if the user has no home.
  const std::string& path() const { return path_; }

 private:
  struct Default {
    std::string value;
    std::string origin;  // the variable, or the file and its line
  };

  void ReadFile();
  absl::Status ReadLine(absl::string_view line, const std::string& origin);
  void ReadVariables(const Environment& environment);
  absl::Status FillFlag(CLI::App& command, const std::string& name,
                        const Default& by_default);

  std::string path_;
  absl::Status file_status_;
  std::map<std::string, Default> defaults_;  // by flag, without dashes
  std::vector<std::string> filled_;
  std::vector<std::string> values_;  // of the command's flags, given or filled
  const bool is_in_job_;
};

// Begins the line about its variable in the description of a flag.
inline constexpr char kEnvironmentLabel[] = "Environment: ";

// A paragraph about the variables and the file, for help texts.
std::string ConnectionDefaultsHelp();

// Whether the command has any of these flags.
bool HasConnectionFlags(const CLI::App& command);

// The variable of a flag, such as "DISTBENCH_TLS_CA" for "tls_ca"; empty if it
// is not one of these flags.
std::string VariableOf(const std::string& flag);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_CONNECTION_DEFAULTS_H_
