// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/products/numa_compare/command.h"

namespace distbench::numa_compare {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "numa_compare",
    new base::Product{
        "Compares deployments of a test on the NUMA nodes of a host"});

const base::Plugin<Command> kCommand("numa_compare",
                                     new Command{HelpSection::kRuns,
                                                 AddNumaCompareCommand});

}  // namespace
}  // namespace distbench::numa_compare
