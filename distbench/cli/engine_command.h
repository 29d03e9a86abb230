// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The subcommand that node managers run, of the program distbench and of
// distbench_engine, which has no other.

#ifndef DISTBENCH_CLI_ENGINE_COMMAND_H_
#define DISTBENCH_CLI_ENGINE_COMMAND_H_

#include <cstdint>

#include "absl/status/status.h"

namespace CLI {
class App;
}

namespace distbench::cli {

struct EngineFlags {
  bool describes = false;
  bool is_warm = false;
  int64_t max_files = 0;
};

// Adds the subcommand, hidden, and its flags. `flags` must outlive the parsing.
CLI::App& AddEngineSubcommand(CLI::App& program, EngineFlags& flags);

// Runs engines for the node manager at the other end of the socket that this
// process inherited, or prints what this program is as an engine.
absl::Status RunEngine(const EngineFlags& flags);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_ENGINE_COMMAND_H_
