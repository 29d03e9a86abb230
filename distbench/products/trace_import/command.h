// `distbench import`.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_COMMAND_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_COMMAND_H_

#include "distbench/cli/command.h"

namespace distbench::trace_import {

void AddImportCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_COMMAND_H_
