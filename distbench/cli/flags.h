// Flags shared by several subcommands, so that they read and fail alike.

#ifndef DISTBENCH_CLI_FLAGS_H_
#define DISTBENCH_CLI_FLAGS_H_

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/security/test_guards.h"
#include "distbench/security/tls_files.h"

namespace CLI {
class App;
}

namespace distbench::cli {

// All of these write to variables that must outlive the parsing. The variables'
// initial values are the defaults.

// Adds --flag=TYPE, which takes any text. `flag` includes the dashes.
void AddTextFlag(CLI::App& command, const std::string& flag, std::string& text,
                 const std::string& type, absl::string_view description);

// The same, for a flag that takes one of these texts. A text that it already
// has is the default.
void AddChoiceFlag(CLI::App& command, const std::string& flag,
                   std::string& text, const std::vector<std::string>& choices,
                   const std::string& type, const std::string& description);

// As AddTextFlag(), for a flag that may be repeated and takes one value each
// time.
void AddRepeatedFlag(CLI::App& command, const std::string& flag,
                     std::vector<std::string>& texts, const std::string& type,
                     absl::string_view description);

// Adds --flag, which takes no value.
void AddSwitch(CLI::App& command, const std::string& flag, bool& is_set,
               const std::string& description);

// Adds --flag=true|false.
void AddBoolFlag(CLI::App& command, const std::string& flag, bool& value,
                 const std::string& description);

// Adds a flag that takes a number from `least` to `most`. A number that it
// already has is the default, unless it is out of this range. `Number` is int,
// int64_t, uint64_t or double.
template <typename Number>
void AddNumberFlag(CLI::App& command, const std::string& flag, Number& number,
                   std::type_identity_t<Number> least,
                   std::type_identity_t<Number> most, const std::string& type,
                   const std::string& description);

// The same, for a number that stays empty if the flag is not given.
template <typename Number>
void AddNumberFlag(CLI::App& command, const std::string& flag,
                   std::optional<Number>& number,
                   std::type_identity_t<Number> least,
                   std::type_identity_t<Number> most, const std::string& type,
                   const std::string& description);

// Adds an argument that is known by its place. `name` stands for it in the
// help, and `type` says what it is, as with flags.
void AddArgument(CLI::App& command, const std::string& name, std::string& text,
                 const std::string& type, const std::string& description);

// The same, for any number of arguments.
void AddArguments(CLI::App& command, const std::string& name,
                  std::vector<std::string>& texts, const std::string& type,
                  const std::string& description);

// For flags, with their dashes, and arguments that the command already has: it
// must be given; the two are not given together.
void Require(CLI::App& command, const std::string& name);
void Exclude(CLI::App& command, const std::string& name,
             const std::string& other);

// --port=PORT.
void AddPortFlag(CLI::App& command, int& port, absl::string_view description);

// --test_sequencer=HOST:PORT; required.
void AddTestSequencerFlag(CLI::App& command, std::string& address);

// --tls_ca, --tls_cert, --tls_key and --tls_name.
void AddTlsFlags(CLI::App& command, security::TlsFiles& files);

// Adds a flag that takes a comma-separated list of names and may be repeated.
void AddNamesFlag(CLI::App& command, const std::string& flag,
                  std::vector<std::string>& names,
                  absl::string_view description);

// The flags by which operators say which tests may run, for
// security::TestGuards::Make().
void AddGuardFlags(CLI::App& command, security::GuardFlagValues& values);

// --listen=ADDRESS.
void AddListenFlag(CLI::App& command, std::string& address,
                   absl::string_view description);

// --metrics_port=PORT; `port` stays empty if the flag is not given.
void AddMetricsPortFlag(CLI::App& command, std::optional<int>& port);

// --infile=FILE.
void AddInfileFlag(CLI::App& command, std::string& infile);

// FILE as an argument, instead of --infile, which the command already has.
// `infile` is the same variable.
void AddInfileArgument(CLI::App& command, std::string& infile);

// --quiet.
void AddQuietFlag(CLI::App& command, bool& quiet);

// Adds a flag that takes a positive duration, such as "1m30s", or seconds.
void AddDurationFlag(CLI::App& command, const std::string& flag,
                     absl::Duration& duration, absl::string_view description);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_FLAGS_H_
