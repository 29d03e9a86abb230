// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The program that `distbench join` runs.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOIN_COMMAND_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOIN_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/products/launching/job/job.h"

namespace CLI {
class App;
}

namespace distbench::launching {

// Finds the program of a command after "--": `words` begin with a subcommand of
// `app`, which this program runs, or with test_builder, which is beside this
// program or in `search_path` (the form of PATH). No words are no command.
// INVALID_ARGUMENT, if the first word is something else, says what it could be;
// NOT_FOUND if there is no test_builder.
absl::StatusOr<JobCommand> FindTrailingProgram(
    const CLI::App& app, const std::vector<std::string>& words,
    const std::string& search_path);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOIN_COMMAND_H_
