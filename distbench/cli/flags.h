// Flags that several subcommands have, so that they read and fail alike.

#ifndef DISTBENCH_CLI_FLAGS_H_
#define DISTBENCH_CLI_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/security/tls_files.h"

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

// --tls_ca, --tls_cert and --tls_key.
void AddTlsFlags(CLI::App& command, TlsFiles& files);

// A flag of names, separated by commas, or of several such lists.
void AddNamesFlag(CLI::App& command, const std::string& flag,
                  std::vector<std::string>& names,
                  absl::string_view description);

// --listen=ADDRESS.
void AddListenFlag(CLI::App& command, std::string& address,
                   absl::string_view description);

// --metrics_port=PORT, which stays absent if it is not given.
void AddMetricsPortFlag(CLI::App& command, std::optional<int>& port);

// --infile=FILE.
void AddInfileFlag(CLI::App& command, std::string& infile);

// A flag of a positive duration, such as "130s" or "2m".
void AddDurationFlag(CLI::App& command, const std::string& flag,
                     absl::Duration& duration, absl::string_view description);

}  // namespace distbench

#endif  // DISTBENCH_CLI_FLAGS_H_
