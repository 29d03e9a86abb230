// `distbench numa_compare`.

#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_COMMAND_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_COMMAND_H_

#include "distbench/cli/command.h"

namespace distbench::numa_compare {

void AddNumaCompareCommand(CLI::App& app, cli::CommandBody& chosen);

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_COMMAND_H_
