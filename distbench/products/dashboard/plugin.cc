// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/cli/sequencer_companion.h"
#include "distbench/products/dashboard/command.h"

namespace distbench::dashboard {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "dashboard", new base::Product{"Shows runs and results to browsers"});

const base::Plugin<Command> kCommand("serve",
                                     new Command{HelpSection::kOutcomes,
                                                 AddServeCommand});

const base::Plugin<cli::SequencerCompanionMaker> kSequencerDashboard(
    "dashboard", new cli::SequencerCompanionMaker{MakeSequencerDashboard});

}  // namespace
}  // namespace distbench::dashboard
