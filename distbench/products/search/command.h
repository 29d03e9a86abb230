// `distbench search`.

#ifndef DISTBENCH_PRODUCTS_SEARCH_COMMAND_H_
#define DISTBENCH_PRODUCTS_SEARCH_COMMAND_H_

#include "distbench/cli/command.h"

namespace distbench::search {

void AddSearchCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_COMMAND_H_
