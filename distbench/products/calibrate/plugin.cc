// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/products/calibrate/command.h"

namespace distbench::calibrate {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "calibrate",
    new base::Product{
        "Measures how long activities take, for tests that give times"});

const base::Plugin<Command> kCommand("calibrate",
                                     new Command{HelpSection::kTests,
                                                 AddCalibrateCommand});

}  // namespace
}  // namespace distbench::calibrate
