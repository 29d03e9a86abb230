// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/last_arguments.h"

#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/match.h"

namespace distbench::flags {

void KeepLastArguments(CLI::App& command) {
  command.positionals_at_end();
  // CLI11 takes all words for arguments from the first one on.
  for (CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    option->check([](const std::string& word) -> std::string {
      const bool is_flag = absl::StartsWith(word, "--") || word == "-h";
      return is_flag ? word + " must come before the arguments" : "";
    });
  }
}

}  // namespace distbench::flags
