// `distbench simulate`.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_COMMAND_H_
#define DISTBENCH_PRODUCTS_SIMULATION_COMMAND_H_

#include "distbench/cli/command.h"

namespace distbench::simulation {

void AddSimulateCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_COMMAND_H_
