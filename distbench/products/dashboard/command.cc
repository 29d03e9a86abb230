#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/exposure.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/output.h"
#include "distbench/products/dashboard/command.h"
#include "distbench/products/dashboard/dashboard.h"
#include "distbench/report/findings/verdict.h"
#include "distbench/security/authorization.h"
#include "distbench/security/tls_files.h"

namespace distbench::dashboard {
namespace {

struct ServeFlags {
  std::string results_dir;
  int port = 8080;
  std::string listen = "localhost";
  std::vector<std::string> host_names;
  security::TlsFiles tls;
  security::AccessRules access;
  std::string index;
};

int Serve(const ServeFlags& flags) {
  if (!flags.access.empty() && flags.tls.ca.empty()) {
    return cli::Fail(
        absl::InvalidArgumentError(
            "--allow_submit names clients by their certificates; give "
            "--tls_ca, --tls_cert and --tls_key as well"),
        report::kExitUsage);
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
  if (!dashboard.ok()) return cli::Fail(dashboard.status(), report::kExitUsage);
  std::cout << "Dashboard at " << (*dashboard)->Url() << '\n'
            << cli::DashboardExposure(flags.listen, flags.tls) << std::endl;
  stop.Wait();
  return report::kExitOk;
}

}  // namespace

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
  cli::AddDashboardHostFlag(command, flags->host_names);
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

}  // namespace distbench::dashboard
