// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/products/search/command.h"

namespace distbench::search {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "search",
    new base::Product{
        "Finds the most load with which a test meets its objectives"});

const base::Plugin<Command> kCommand("search", new Command{HelpSection::kRuns,
                                                           AddSearchCommand});

}  // namespace
}  // namespace distbench::search
