// What this product adds to the program.

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/host_port.h"
#include "distbench/base/plugins.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/exposure.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/sequencer_companion.h"
#include "distbench/products/dashboard/dashboard.h"
#include "distbench/products/dashboard/sequencer_live.h"
#include "distbench/report/findings/findings.h"
#include "distbench/security/authorization.h"
#include "distbench/security/tls_files.h"

namespace distbench::dashboard {
namespace {

using cli::Command;
using cli::HelpSection;

// Says who can reach a dashboard that listens there (empty: on all interfaces),
// and what they can do.
std::string DashboardExposure(const std::string& listen,
                              const security::TlsFiles& tls) {
  if (!tls.ca.empty()) {
    return absl::StrCat(
        "TLS: readers of the dashboard need certificates signed by ", tls.ca);
  }
  return absl::StrCat(
      cli::WhoReaches(listen), " can read what the dashboard shows: ",
      tls.empty() ? "there is no TLS"
                  : "TLS encrypts, but without --tls_ca no certificate is "
                    "required");
}

constexpr char kDefaultListen[] = "localhost";

// --dashboard_host=NAME[,NAME...].
void AddDashboardHostFlag(CLI::App& command, std::vector<std::string>& names) {
  cli::AddNamesFlag(
      command, "--dashboard_host", names,
      "Further names by which browsers may call the dashboard, such\n"
      "as results.example.com; known are the names of this host");
}

// ---- Beside a sequencer -----------------------------------------------------

class DashboardOfSequencer final : public cli::RunningCompanion {
 public:
  static absl::StatusOr<std::unique_ptr<cli::RunningCompanion>> Start(
      const cli::SequencerCompanion::Sequencer& sequencer,
      DashboardOptions options) {
    std::unique_ptr<DashboardOfSequencer> started(
        new DashboardOfSequencer(sequencer.server));
    options.tls = sequencer.tls;
    options.access = sequencer.access;
    options.results_dir = sequencer.results_dir;
    options.live = &started->live_;
    options.live_name = sequencer.address;
    started->exposure_ = DashboardExposure(options.listen_address, options.tls);
    auto dashboard = Dashboard::Start(std::move(options));
    if (!dashboard.ok()) return dashboard.status();
    started->dashboard_ = *std::move(dashboard);
    return started;
  }

  std::string Announcement() const override {
    return absl::StrCat("Dashboard at ", dashboard_->Url(), "\n", exposure_,
                        "\n");
  }

 private:
  explicit DashboardOfSequencer(sequencer::SequencerServer& server)
      : live_(server) {}

  SequencerLive live_;
  std::string exposure_;
  std::unique_ptr<Dashboard> dashboard_;
};

class SequencerDashboard final : public cli::SequencerCompanion {
 public:
  void AddFlags(CLI::App& command) override {
    cli::AddNumberFlag(
        command, "--dashboard_port", port_, 0, base::kMaxPort, "PORT",
        "Serve a dashboard to browsers on this port; 0 picks a free\n"
        "port. Prints its address, whose token allows changes.\n"
        "Default: no dashboard");
    cli::AddTextFlag(command, "--dashboard_listen", listen_, "ADDRESS",
                     "Address of the dashboard; default: localhost");
    AddDashboardHostFlag(command, host_names_);
  }

  absl::Status CheckFlags() const override {
    if (port_.has_value() ||
        (listen_ == kDefaultListen && host_names_.empty())) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "--dashboard_listen and --dashboard_host have no effect without a "
        "dashboard; give --dashboard_port as well");
  }

  absl::StatusOr<std::unique_ptr<cli::RunningCompanion>> Start(
      const Sequencer& sequencer) const override {
    if (!port_.has_value()) return nullptr;
    DashboardOptions options;
    options.listen_address = listen_;
    options.port = *port_;
    options.host_names = host_names_;
    return DashboardOfSequencer::Start(sequencer, std::move(options));
  }

 private:
  std::optional<int> port_;
  std::string listen_ = kDefaultListen;
  std::vector<std::string> host_names_;
};

// ---- Of a folder ------------------------------------------------------------

struct ServeFlags {
  std::string results_dir;
  int port = 8080;
  std::string listen = kDefaultListen;
  std::vector<std::string> host_names;
  security::TlsFiles tls;
  security::AccessRules access;
  std::string index;
};

absl::StatusOr<int> Serve(const ServeFlags& flags) {
  if (!flags.access.empty() && flags.tls.ca.empty()) {
    return absl::InvalidArgumentError(
        "--allow_submit names clients by their certificates; give "
        "--tls_ca, --tls_cert and --tls_key as well");
  }
  base::StopSignals stop(report::kExitRunFailed);
  DashboardOptions options;
  options.listen_address = flags.listen;
  options.port = flags.port;
  options.host_names = flags.host_names;
  options.tls = flags.tls;
  options.access = flags.access;
  options.results_dir = flags.results_dir;
  if (!flags.index.empty()) options.index_path = flags.index;
  const absl::StatusOr<std::unique_ptr<Dashboard>> dashboard =
      Dashboard::Start(std::move(options));
  if (!dashboard.ok()) return dashboard.status();
  std::cout << "Dashboard at " << (*dashboard)->Url() << '\n'
            << DashboardExposure(flags.listen, flags.tls) << std::endl;
  stop.Wait();
  return report::kExitOk;
}

std::unique_ptr<cli::SequencerCompanion> MakeSequencerDashboard() {
  return std::make_unique<SequencerDashboard>();
}

void AddServeCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "serve", "Shows a folder of results to browsers until SIGINT");
  auto flags = std::make_shared<ServeFlags>();
  cli::AddArgument(
      command, "DIR", flags->results_dir, "DIR",
      "Folder with result files, or --results_dir of a sequencer;\n"
      "only read, except for the notes file in it");
  cli::Require(command, "DIR");
  cli::AddPortFlag(command, flags->port,
                   "Port to listen on; 0 picks a free port and prints it");
  cli::AddListenFlag(command, flags->listen,
                     "Address to listen on; default: localhost");
  AddDashboardHostFlag(command, flags->host_names);
  cli::AddTextFlag(
      command, "--index", flags->index, "FILE",
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
