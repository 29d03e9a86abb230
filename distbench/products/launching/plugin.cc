// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/products/launching/commands.h"

namespace distbench::launching {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "launching",
    new base::Product{
        "Starts the processes of a job, through its launcher or over ssh"});

const base::Plugin<Command> kCommands[] = {
    {"join", new Command{HelpSection::kProcesses, AddJoinCommand}},
    {"launch", new Command{HelpSection::kProcesses, AddLaunchCommand}},
    {"launched", new Command{HelpSection::kHidden, AddLaunchedCommand}},
};

}  // namespace
}  // namespace distbench::launching
