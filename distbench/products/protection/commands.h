// The subcommands.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_COMMANDS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_COMMANDS_H_

#include "distbench/cli/command.h"

namespace distbench::protection {

void AddControlGuardianCommand(CLI::App& app, cli::CommandBody& chosen);
void AddProtectionCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_COMMANDS_H_
