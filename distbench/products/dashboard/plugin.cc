// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/host_port.h"
#include "distbench/base/plugins.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/sequencer_companion.h"
#include "distbench/products/dashboard/dashboard.h"
#include "distbench/report/findings/findings.h"

namespace distbench::dashboard {
namespace {

using cli::Command;
using cli::HelpSection;

// Of `distbench serve`.
constexpr int kDefaultPort = 8080;

// --dashboard_host=NAME[,NAME...].
void AddDashboardHostFlag(CLI::App& command, std::vector<std::string>& names) {
  cli::AddNamesFlag(
      command, "--dashboard_host", names,
      "Further names by which browsers may call the dashboard, such\n"
      "as results.example.com; known are the names of this host");
}

// ---- Beside a sequencer -----------------------------------------------------

class SequencerDashboard final : public cli::SequencerCompanion {
 public:
  void AddFlags(CLI::App& command) override {
    cli::AddNumberFlag(
        command, "--dashboard_port", port_, 0, base::kMaxPort, "PORT",
        "Serve a dashboard to browsers on this port; 0 picks a free\n"
        "port. Prints its address, whose token allows changes.\n"
        "Default: no dashboard");
    cli::AddTextFlag(command, "--dashboard_listen", options_.listen_address,
                     "ADDRESS", "Address of the dashboard; default: localhost");
    AddDashboardHostFlag(command, options_.host_names);
  }

  absl::Status CheckFlags() const override {
    if (port_.has_value() ||
        (options_.listen_address == DashboardOptions().listen_address &&
         options_.host_names.empty())) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "--dashboard_listen and --dashboard_host have no effect without a "
        "dashboard; give --dashboard_port as well");
  }

  absl::StatusOr<std::unique_ptr<cli::RunningCompanion>> Start(
      const Sequencer& sequencer) const override {
    if (!port_.has_value()) return nullptr;
    DashboardOptions options = options_;
    options.port = *port_;
    options.tls = sequencer.tls;
    options.access = sequencer.access;
    if (!sequencer.results_dir.empty()) {
      options.results_dirs = {sequencer.results_dir};
    }
    options.sequencer_address = sequencer.address;
    options.sequencer = &sequencer.server;
    return Dashboard::Start(std::move(options));
  }

 private:
  std::optional<int> port_;
  DashboardOptions options_;
};

// ---- Of a folder ------------------------------------------------------------

absl::StatusOr<int> Serve(const DashboardOptions& options) {
  if (!options.access.empty() && options.tls.ca.empty()) {
    return absl::InvalidArgumentError(
        "--allow_submit names clients by their certificates; give "
        "--tls_ca, --tls_cert and --tls_key as well");
  }
  base::StopSignals stop(report::kExitRunFailed);
  const absl::StatusOr<std::unique_ptr<Dashboard>> dashboard =
      Dashboard::Start(options);
  if (!dashboard.ok()) return dashboard.status();
  std::cout << (*dashboard)->Announcement() << std::flush;
  stop.Wait();
  return report::kExitOk;
}

std::unique_ptr<cli::SequencerCompanion> MakeSequencerDashboard() {
  return std::make_unique<SequencerDashboard>();
}

void AddServeCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "serve", "Shows folders of results to browsers until SIGINT");
  auto flags = std::make_shared<DashboardOptions>();
  flags->port = kDefaultPort;
  cli::AddArguments(
      command, "DIR", flags->results_dirs, "DIR",
      "Folders with result files, or --results_dir of a sequencer;\n"
      "only read, except for the notes file in each");
  cli::Require(command, "DIR");
  cli::AddPortFlag(command, flags->port,
                   "Port to listen on; 0 picks a free port and prints it");
  cli::AddListenFlag(command, flags->listen_address,
                     "Address to listen on; default: localhost");
  AddDashboardHostFlag(command, flags->host_names);
  cli::AddTextFlag(
      command, "--index", flags->index_path, "FILE",
      "Keep the index of the results here; default: in the user's\n"
      "cache folder, or in memory if that cannot be written");
  cli::AddTlsFlags(command, flags->tls);
  cli::AddNamesFlag(
      command, "--allow_submit", flags->access.submit,
      "Certificate names that may change notes and marks; default:\n"
      "all signed by --tls_ca");
  cli::SetFooter(
      command,
      "Prints the address to open. Without --tls_ca it contains a token, "
      "which\n"
      "allows its holder to change notes and marks; everybody who can reach\n"
      "the port may read.\n\n"
      "Examples:\n"
      "  distbench serve results\n"
      "  distbench serve /data/lab1 /data/lab2\n"
      "  distbench serve /var/lib/distbench --port=0 --index=/tmp/index.db");
  cli::SetBody(command, chosen, [flags] { return Serve(*flags); });
}

const base::Plugin<base::Product> kProduct(
    "dashboard", new base::Product{"Shows runs and results to browsers"});

const base::Plugin<Command> kCommand("serve",
                                     new Command{HelpSection::kOutcomes,
                                                 AddServeCommand});

const base::Plugin<cli::SequencerCompanionMaker> kSequencerDashboard(
    "dashboard", new cli::SequencerCompanionMaker{MakeSequencerDashboard});

}  // namespace
}  // namespace distbench::dashboard
