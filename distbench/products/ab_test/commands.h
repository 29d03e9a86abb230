// The subcommands.

#ifndef DISTBENCH_PRODUCTS_AB_TEST_COMMANDS_H_
#define DISTBENCH_PRODUCTS_AB_TEST_COMMANDS_H_

#include "distbench/cli/command.h"

namespace distbench::ab_test {

void AddAbTestCommand(CLI::App& app, cli::CommandBody& chosen);
void AddNoiseFloorCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::ab_test

#endif  // DISTBENCH_PRODUCTS_AB_TEST_COMMANDS_H_
