#include "distbench/products/libfabric/providers_command.h"
#include "absl/status/status.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/output.h"
#include "distbench/node/libfabric_facts.h"
#include "distbench/report/findings/verdict.h"
#include "optional_libraries.h"
#include "proto/results.pb.h"

#if DISTBENCH_HAS_LIBFABRIC
#include <string>

#include "distbench/products/libfabric/library.h"
#include "distbench/products/libfabric/providers.h"
#endif

namespace distbench::libfabric {
namespace {

HostFacts Providers() {
  HostFacts facts;
#if DISTBENCH_HAS_LIBFABRIC
  if (const std::string& problem = Libfabric().problem; !problem.empty()) {
    facts.set_libfabric_problem(problem);
    return facts;
  }
  for (const std::string& name : ListLibfabricProviders()) {
    facts.add_libfabric_providers(name);
  }
#endif
  return facts;
}

int TellProviders() {
  if (node::TellLibfabricProviders(Providers())) return report::kExitOk;
  return cli::Fail(
      absl::InvalidArgumentError(
          "node managers start this themselves; see: distbench help "
          "node_manager"),
      report::kExitUsage);
}

}  // namespace

void AddLibfabricProvidersCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command =
      cli::AddSubcommand(app, node::kLibfabricProvidersSubcommand,
                         "Tells a node manager libfabric's providers");
  // Hidden from the list of subcommands, because it is not for users.
  cli::HideSubcommand(command);
  cli::SetBody(command, chosen, TellProviders);
}

}  // namespace distbench::libfabric
