// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Flags shared by several subcommands of distbench, so that they read and fail
// alike.

#ifndef DISTBENCH_CLI_FLAGS_H_
#define DISTBENCH_CLI_FLAGS_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/flags/flags.h"
#include "distbench/security/test_guards.h"
#include "distbench/security/tls_files.h"

namespace CLI {
class App;
}

namespace distbench::cli {

// Those of any program.
using flags::AddArgument;
using flags::AddArguments;
using flags::AddBoolFlag;
using flags::AddChoiceFlag;
using flags::AddDurationFlag;
using flags::AddNamesFlag;
using flags::AddNumberFlag;
using flags::AddOutputFlag;
using flags::AddRepeatedFlag;
using flags::AddSwitch;
using flags::AddTextFlag;
using flags::Exclude;
using flags::NumberError;
using flags::Require;
using flags::TakeOnlyFromCommandLine;

// As these, the following write to variables that must outlive the parsing, and
// whose initial values are the defaults.

// --port=PORT.
void AddPortFlag(CLI::App& command, int& port, absl::string_view description);

// --test_sequencer=HOST:PORT; required.
void AddTestSequencerFlag(CLI::App& command, std::string& address);

// --tls_ca, --tls_cert, --tls_key and --tls_name.
void AddTlsFlags(CLI::App& command, security::TlsFiles& files);

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

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_FLAGS_H_
