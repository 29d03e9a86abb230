// Flags that several subcommands have, so that they read and fail alike.

#ifndef DISTBENCH_CLI_FLAGS_H_
#define DISTBENCH_CLI_FLAGS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace CLI {
class App;
}

namespace distbench {

// All write to variables that outlive the parsing, whose values before are the
// defaults.

// A flag of any text, which `type` names: --flag=TYPE. `flag`: with dashes.
void AddTextFlag(CLI::App& command, const std::string& flag, std::string& text,
                 const std::string& type, absl::string_view description);

// --port=PORT.
void AddPortFlag(CLI::App& command, int& port, absl::string_view description);

// --test_sequencer=HOST:PORT; required.
void AddTestSequencerFlag(CLI::App& command, std::string& address);

// --infile=FILE.
void AddInfileFlag(CLI::App& command, std::string& infile);

// A flag of a positive duration, such as "130s" or "2m".
void AddDurationFlag(CLI::App& command, const std::string& flag,
                     absl::Duration& duration, absl::string_view description);

}  // namespace distbench

#endif  // DISTBENCH_CLI_FLAGS_H_
