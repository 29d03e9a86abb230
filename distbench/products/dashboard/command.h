// The dashboard on the command line: `distbench serve`, and the flags
// --dashboard_... of `distbench test_sequencer`.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_COMMAND_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_COMMAND_H_

#include <memory>
#include <string>

#include "distbench/cli/command.h"
#include "distbench/cli/sequencer_companion.h"
#include "distbench/security/tls_files.h"

namespace distbench::dashboard {

void AddServeCommand(CLI::App& app, cli::CommandBody& chosen);

std::unique_ptr<cli::SequencerCompanion> MakeSequencerDashboard();

// Says who can reach a dashboard that listens there (empty: on all interfaces),
// and what they can do.
std::string DashboardExposure(const std::string& listen,
                              const security::TlsFiles& tls);

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_COMMAND_H_
