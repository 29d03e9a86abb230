// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/command.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/engine_command.h"
#include "distbench/cli/exposure.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/node_flags.h"
#include "distbench/hosting/engine_program.h"
#include "distbench/hosting/process_engines.h"
#include "distbench/node/node_manager.h"
#include "distbench/numa/thread_binding.h"
#include "distbench/report/findings/findings.h"
#include "distbench/results/engine_text.h"
#include "distbench/security/credentials.h"
#include "distbench/security/tls_files.h"

namespace distbench::cli {
namespace {

// How long the sequencer may take to collect the node's measurements when the
// node is told to end.
constexpr absl::Duration kLeavePatience = absl::Seconds(10);

struct NodeManagerFlags {
  std::vector<std::string> arguments;
  security::TlsFiles tls;
  bool plain_traffic = false;
  NodeFlags node;
};

absl::StatusOr<int> RunNodeManager(const NodeManagerFlags& flags) {
  const absl::StatusOr<std::optional<NumaBinding>> binding =
      BindAsFlagged(flags.node);
  if (!binding.ok()) return binding.status();
  absl::StatusOr<NodeArguments> arguments = ParseNodeArguments(flags.arguments);
  if (!arguments.ok()) return arguments.status();

  if (absl::Status status = CheckNodeFlags(flags.node); !status.ok()) {
    return status;
  }
  const auto tls =
      security::TlsCredentials::Load(flags.tls, security::TlsRole::kNode);
  if (!tls.ok()) return tls.status();

  base::StopSignals stop(report::kExitRunFailed);
  // Before the node is registered there is nothing to end.
  stop.SetHandler([] { std::_Exit(report::kExitOk); });

  absl::StatusOr<hosting::EnginePrograms> programs =
      hosting::FindEngines(flags.node.engines);
  if (!programs.ok()) return programs.status();
  for (const auto& [name, engine] : *programs) {
    std::cout << "Engine " << results::EngineText(engine.description)
              << std::endl;
  }
  hosting::ProcessEngines engines(flags.node.engine_limits,
                                  *std::move(programs));
  absl::Status end;
  node::NodeManagerOptions options =
      ToNodeOptions(flags.node, *binding, engines);
  options.preassigned_id = arguments->preassigned_id;
  options.attributes = std::move(arguments->attributes);
  options.tls = *tls;
  options.plain_traffic = flags.plain_traffic;
  options.on_ended = [&](absl::Status status) {
    end = std::move(status);
    stop.Request();
  };
  if (binding->has_value()) {
    std::cout << "Bound to " << numa::DescribeBinding(**binding) << std::endl;
  }
  const std::string sequencer = options.sequencer;
  std::cout << "Registering with " << sequencer << std::endl;
  const absl::StatusOr<std::unique_ptr<node::NodeManager>> node =
      node::NodeManager::Start(std::move(options));
  if (!node.ok()) return node.status();
  stop.SetHandler({});

  std::cout << (*node)->alias() << " registered with " << sequencer << '\n'
            << NodeExposure(
                   flags.node.options.listen_address,
                   flags.node.options.service_address,
                   flags.plain_traffic ? security::TlsFiles() : flags.tls)
            << std::endl;
  if ((*node)->metrics_port() != 0) {
    std::cout << "Metrics at port " << (*node)->metrics_port() << std::endl;
  }
  stop.Wait();
  (*node)->Leave(kLeavePatience);
  (*node)->Shutdown();
  return end.ok() ? report::kExitOk : Fail(end, report::kExitRunFailed);
}

}  // namespace

void AddNodeManagerCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command =
      AddSubcommand(app, "node_manager",
                    "Makes this host a node of a test sequencer until SIGINT");
  auto flags = std::make_shared<NodeManagerFlags>();
  AddArguments(command, "ARGUMENTS", flags->arguments, "NODE",
               "nodeN: the node's name, otherwise chosen by the\n"
               "sequencer; then name=value: attributes for the\n"
               "service constraints of tests");
  AddTestSequencerFlag(command, flags->node.options.sequencer);
  AddTlsFlags(command, flags->tls);
  AddSwitch(command, "--plain_traffic", flags->plain_traffic,
            "TLS for the sequencer alone: the traffic of tests has none");
  AddPortFlag(command, flags->node.options.port,
              "Port of this node's health service (grpc.health.v1), which\n"
              "the sequencer is told; 0: none");
  AddMetricsPortFlag(command, flags->node.options.metrics_port);
  AddNodeFlags(command, flags->node);
  SetFooter(
      command,
      "Registers with the sequencer and runs the services assigned to it.\n"
      "Registers again if the sequencer restarts or was unreachable for a\n"
      "while. SIGINT or SIGTERM ends it and the test that it takes part in;\n"
      "the test's result keeps what was measured. A second signal ends it at\n"
      "once.\n\n"
      "Examples:\n"
      "  distbench node_manager --test_sequencer=host1:10000\n"
      "  distbench node_manager node3 rack=a7 --test_sequencer=host1:10000\n"
      "  distbench node_manager --numa_node=1 --test_sequencer=host1:10000");
  SetBody(command, chosen, [flags] { return RunNodeManager(*flags); });
}

// ---- engine -----------------------------------------------------------------

void AddEngineCommand(CLI::App& app, CommandBody& chosen) {
  auto flags = std::make_shared<EngineFlags>();
  CLI::App& command = AddEngineSubcommand(app, *flags);
  SetBody(command, chosen, [flags]() -> absl::StatusOr<int> {
    const absl::Status status = RunEngine(*flags);
    if (!status.ok()) return status;
    return report::kExitOk;
  });
}

}  // namespace distbench::cli
