// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/products/simulation/command.h"

namespace distbench::simulation {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "simulation", new base::Product{"Runs tests on simulated hosts"});

const base::Plugin<Command> kCommand("simulate",
                                     new Command{HelpSection::kTests,
                                                 AddSimulateCommand});

}  // namespace
}  // namespace distbench::simulation
