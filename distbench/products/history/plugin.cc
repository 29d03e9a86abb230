// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/products/history/command.h"

namespace distbench::history {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "history",
    new base::Product{"Finds trends and changes in a folder of results"});

const base::Plugin<Command> kCommand("history",
                                     new Command{HelpSection::kOutcomes,
                                                 AddHistoryCommand});

}  // namespace
}  // namespace distbench::history
