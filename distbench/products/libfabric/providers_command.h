// The hidden subcommand that lists providers.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_PROVIDERS_COMMAND_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_PROVIDERS_COMMAND_H_

#include "distbench/cli/command.h"

namespace distbench::libfabric {

void AddLibfabricProvidersCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_PROVIDERS_COMMAND_H_
