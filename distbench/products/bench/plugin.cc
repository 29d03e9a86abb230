// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/cli/value_candidates.h"
#include "distbench/products/bench/command.h"

namespace distbench::bench {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "bench",
    new base::Product{
        "Runs sequences of jobs, with io.cost, hashd and storage sizing"});

const base::Plugin<Command> kCommand("bench", new Command{HelpSection::kRuns,
                                                          AddBenchCommand});

const base::Plugin<cli::ValueType> kJobs("JOB",
                                         new cli::ValueType{JobCandidates});

}  // namespace
}  // namespace distbench::bench
