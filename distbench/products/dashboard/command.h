// `distbench serve`.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_COMMAND_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_COMMAND_H_

#include "distbench/cli/command.h"

namespace distbench::dashboard {

void AddServeCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_COMMAND_H_
