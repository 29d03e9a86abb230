// `distbench calibrate`.

#ifndef DISTBENCH_PRODUCTS_CALIBRATE_COMMAND_H_
#define DISTBENCH_PRODUCTS_CALIBRATE_COMMAND_H_

#include "distbench/cli/command.h"

namespace distbench::calibrate {

void AddCalibrateCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::calibrate

#endif  // DISTBENCH_PRODUCTS_CALIBRATE_COMMAND_H_
