// The subcommands, and what others say about experiments.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_COMMANDS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_COMMANDS_H_

#include <string>
#include <vector>

#include "distbench/cli/command.h"
#include "distbench/flags/completion.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

void AddControlGuardianCommand(CLI::App& app, cli::CommandBody& chosen);
void AddProtectionCommand(CLI::App& app, cli::CommandBody& chosen);

// Complete the names of an experiment's controls and antagonists.
std::vector<flags::Candidate> ControlsCandidates(
    const flags::ValueRequest& request);
std::vector<flags::Candidate> AntagonistCandidates(
    const flags::ValueRequest& request);

// For commands that leave a test's experiment out.
std::string RemarkOnExperiment(const DistributedSystemDescription& test);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_COMMANDS_H_
