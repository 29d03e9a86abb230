// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The subcommands.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_COMMANDS_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_COMMANDS_H_

#include "distbench/cli/command.h"

namespace distbench::launching {

void AddJoinCommand(CLI::App& app, cli::CommandBody& chosen);
void AddLaunchCommand(CLI::App& app, cli::CommandBody& chosen);
void AddLaunchedCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_COMMANDS_H_
