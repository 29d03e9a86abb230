// `distbench history`.

#ifndef DISTBENCH_PRODUCTS_HISTORY_COMMAND_H_
#define DISTBENCH_PRODUCTS_HISTORY_COMMAND_H_

#include "distbench/cli/command.h"

namespace distbench::history {

void AddHistoryCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_COMMAND_H_
