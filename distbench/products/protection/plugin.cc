// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/cli/input.h"
#include "distbench/cli/value_candidates.h"
#include "distbench/products/protection/commands.h"

namespace distbench::protection {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "protection",
    new base::Product{
        "Measures how controls protect a service from antagonists"});

const base::Plugin<Command> kCommands[] = {
    {"control_guardian",
     new Command{HelpSection::kHidden, AddControlGuardianCommand}},
    {"protection", new Command{HelpSection::kRuns, AddProtectionCommand}},
};

const base::Plugin<cli::ValueType> kValues[] = {
    {"ANTAGONIST", new cli::ValueType{AntagonistCandidates}},
    {"CONTROLS", new cli::ValueType{ControlsCandidates}},
};

const base::Plugin<cli::TestRemark> kRemark("protection",
                                            new cli::TestRemark{
                                                RemarkOnExperiment});

}  // namespace
}  // namespace distbench::protection
