// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/products/ab_test/commands.h"

namespace distbench::ab_test {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "ab_test", new base::Product{"Compares two versions by alternating runs, "
                                 "and finds the noise floor of runs"});

const base::Plugin<Command> kCommands[] = {
    {"ab_test", new Command{HelpSection::kRuns, AddAbTestCommand}},
    {"noise_floor", new Command{HelpSection::kOutcomes, AddNoiseFloorCommand}},
};

}  // namespace
}  // namespace distbench::ab_test
