// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/host_port.h"
#include "distbench/base/hosts.h"
#include "distbench/base/plugins.h"
#include "distbench/base/stop_signals.h"
#include "distbench/base/version.h"
#include "distbench/cli/command.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/exposure.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/node_flags.h"
#include "distbench/cli/sequencer_companion.h"
#include "distbench/hosting/engine_program.h"
#include "distbench/hosting/process_engines.h"
#include "distbench/node/host_facts.h"
#include "distbench/node/node_manager.h"
#include "distbench/report/findings/findings.h"
#include "distbench/security/authorization.h"
#include "distbench/security/credentials.h"
#include "distbench/security/test_guards.h"
#include "distbench/security/tls_files.h"
#include "distbench/sequencer/runs/run_book.h"
#include "distbench/sequencer/serving/sequencer_server.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::cli {

namespace {

constexpr int kMaxLocalNodes = 10'000;
constexpr int64_t kMaxMemoryMib = 1 << 30;
constexpr int64_t kLeastReceiveMemoryMib = 16;
constexpr int kMaxNodeNames = 100'000;
constexpr absl::Duration kMinNodeTimeout = absl::Milliseconds(100);

using Companions = std::vector<std::unique_ptr<SequencerCompanion>>;

Companions MakeCompanions() {
  Companions companions;
  for (const auto& [name, maker] :
       base::Plugins<SequencerCompanionMaker>::All()) {
    companions.push_back(maker->make());
  }
  return companions;
}

struct SequencerFlags {
  // Those that flags give as they are.
  sequencer::SequencerOptions options;

  int local_nodes = 0;
  std::vector<std::string> engines;  // each "NAME=PATH"
  int64_t results_memory_mib =
      sequencer::SequencerOptions().results_memory_bytes >> 20;
  int64_t results_disk_mib = sequencer::RunLimits().disk_bytes >> 20;
  std::optional<int64_t> receive_memory_mib;
  security::TlsFiles tls;
  security::GuardFlagValues guards;
  Companions companions = MakeCompanions();
};

// --allow_* restrict clients by name, and only certificates have names.
absl::Status CheckSequencerFlags(const SequencerFlags& flags) {
  if (!flags.options.access.empty() && flags.tls.ca.empty()) {
    return absl::InvalidArgumentError(
        "--allow_submit and --allow_node name clients by their certificates; "
        "give --tls_ca, --tls_cert and --tls_key as well");
  }
  if (!flags.engines.empty() && flags.local_nodes == 0) {
    return absl::InvalidArgumentError(
        "--engine is for the nodes of this process, of which there are none; "
        "add --local_nodes, or give it to node managers");
  }
  absl::Status status;
  for (const auto& companion : flags.companions) {
    status.Update(companion->CheckFlags());
  }
  return status;
}

absl::StatusOr<std::vector<std::unique_ptr<node::NodeManager>>> StartLocalNodes(
    sequencer::SequencerServer& sequencer, int count,
    const std::shared_ptr<const security::TlsCredentials>& tls,
    const security::TestGuards& guards, hosting::EngineFactory* engines) {
  std::vector<std::unique_ptr<node::NodeManager>> nodes;
  HostFacts lasting_facts;
  if (count > 0) lasting_facts = node::FindLastingFacts();
  for (int i = 0; i < count; ++i) {
    node::NodeManagerOptions options;
    options.lasting_facts = lasting_facts;
    options.engines = engines;
    options.channel = sequencer.InProcessChannel();
    // Their traffic needs certificates on both sides.
    if (tls != nullptr && !tls->files().ca.empty()) options.tls = tls;
    options.preassigned_id = i;
    options.guards = guards;
    absl::StatusOr<std::unique_ptr<node::NodeManager>> node =
        node::NodeManager::Start(std::move(options));
    if (!node.ok()) return node.status();
    nodes.push_back(*std::move(node));
  }
  return nodes;
}

void SayWhatWasInterrupted(const sequencer::SequencerServer& sequencer) {
  for (const RunDescription& run : sequencer.interrupted_runs()) {
    std::cerr << "Run " << run.id() << " was interrupted: " << run.message()
              << (run.has_result_bytes()
                      ? "; distbench runs get has its earlier tests"
                      : "")
              << std::endl;
  }
}

absl::StatusOr<std::vector<std::unique_ptr<RunningCompanion>>> StartCompanions(
    const SequencerFlags& flags, sequencer::SequencerServer& server,
    const std::string& address) {
  const SequencerCompanion::Sequencer sequencer = {server, address, flags.tls,
                                                   flags.options.access,
                                                   flags.options.results_dir};
  std::vector<std::unique_ptr<RunningCompanion>> running;
  for (const auto& companion : flags.companions) {
    absl::StatusOr<std::unique_ptr<RunningCompanion>> started =
        companion->Start(sequencer);
    if (!started.ok()) return started.status();
    if (*started != nullptr) running.push_back(*std::move(started));
  }
  return running;
}

absl::StatusOr<int> RunTestSequencer(const SequencerFlags& flags) {
  const absl::Status usage = CheckSequencerFlags(flags);
  if (!usage.ok()) return usage;
  const auto guards = security::TestGuards::Make(flags.guards);
  if (!guards.ok()) return guards.status();
  const auto tls =
      security::TlsCredentials::Load(flags.tls, security::TlsRole::kSequencer);
  if (!tls.ok()) return tls.status();
  absl::StatusOr<hosting::EnginePrograms> programs =
      hosting::FindEngines(flags.engines);
  if (!programs.ok()) return programs.status();
  base::StopSignals stop(report::kExitRunFailed);
  sequencer::SequencerOptions options = flags.options;
  options.tls = *tls;
  options.guards = *guards;
  options.revision = std::string(base::SourceRevision());
  options.results_memory_bytes = flags.results_memory_mib << 20;
  options.run_limits.disk_bytes = flags.results_disk_mib << 20;
  if (flags.receive_memory_mib.has_value()) {
    options.receive_memory_bytes = *flags.receive_memory_mib << 20;
  }
  options.on_shutdown_request = [&stop] { stop.Request(); };
  const absl::StatusOr<std::unique_ptr<sequencer::SequencerServer>> sequencer =
      sequencer::SequencerServer::Start(std::move(options));
  if (!sequencer.ok()) return sequencer.status();
  SayWhatWasInterrupted(**sequencer);

  std::optional<hosting::ProcessEngines> engines;
  if (flags.local_nodes > 0) {
    engines.emplace(hosting::EngineLimits(), *std::move(programs));
  }
  const auto nodes = StartLocalNodes(**sequencer, flags.local_nodes, *tls,
                                     *guards, engines ? &*engines : nullptr);
  if (!nodes.ok()) return Fail(nodes.status(), report::kExitRunFailed);

  // At which others reach the port.
  const std::string& listen = flags.options.listen_address;
  const std::string address = base::JoinHostPort(
      listen.empty() ? base::Hostname() : listen, (*sequencer)->port());
  const auto companions = StartCompanions(flags, **sequencer, address);
  if (!companions.ok()) return companions.status();

  std::cout << "Listening at " << address << '\n'
            << SequencerExposure(listen, flags.tls, flags.options.access)
            << std::endl;
  if ((*sequencer)->metrics_port() != 0) {
    std::cout << "Metrics at port " << (*sequencer)->metrics_port()
              << std::endl;
  }
  for (const auto& companion : *companions) {
    std::cout << companion->Announcement() << std::flush;
  }
  stop.Wait();
  // The nodes of this process can still deliver their measurements here.
  // Companions end after that: they may wait for work of their own.
  (*sequencer)->EndRuns();
  return report::kExitOk;
}

}  // namespace

void AddTestSequencerCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command = AddSubcommand(
      app, "test_sequencer", "Hands tests to node managers until SIGINT");
  auto flags = std::make_shared<SequencerFlags>();
  sequencer::SequencerOptions& options = flags->options;
  AddPortFlag(command, options.port,
              "Port to listen on; 0 picks a free port and prints it");
  AddNumberFlag(command, "--local_nodes", flags->local_nodes, 0, kMaxLocalNodes,
                "COUNT",
                "Nodes to run in this process, named node0, node1, ...");
  AddEngineFlag(command, flags->engines);
  AddListenFlag(command, options.listen_address,
                "Address to listen on; default: all interfaces");
  AddDurationFlag(command, "--node_timeout", options.node_silence_timeout,
                  "Declare a node lost if it is unreachable for this long,\n"
                  "and end its traffic; default: 5s");
  flags::Check(command, "--node_timeout",
               [](const std::string& text) -> std::string {
                 const auto timeout = flags::ParseDurationOrSeconds(text);
                 if (!timeout.ok() || *timeout >= kMinNodeTimeout) return "";
                 return absl::StrCat("must be at least ",
                                     absl::FormatDuration(kMinNodeTimeout),
                                     ": nodes answer ten times within it");
               });
  AddTextFlag(command, "--results_dir", options.results_dir, "DIR",
              "Directory for runs and results, which survive a restart;\n"
              "default: results are lost with the sequencer");
  AddNumberFlag(command, "--results_memory", flags->results_memory_mib,
                int64_t{0}, kMaxMemoryMib, "MIB",
                "MiB of memory, but at least 32, for what the summary of the\n"
                "running test is made from; beyond it briefer measurements");
  AddNumberFlag(command, "--results_disk", flags->results_disk_mib, int64_t{0},
                kMaxMemoryMib, "MIB",
                "MiB of results of ended runs that are kept without\n"
                "--results_dir, in temporary files; beyond it the oldest\n"
                "are dropped");
  AddNumberFlag(command, "--receive_memory", flags->receive_memory_mib,
                kLeastReceiveMemoryMib, kMaxMemoryMib, "MIB",
                "Approximate MiB of memory for messages while they are\n"
                "received. Beyond it calls are aborted, and a larger\n"
                "message never arrives. Default: half of the memory of the\n"
                "host or of its control group");
  AddTlsFlags(command, flags->tls);
  AddNamesFlag(command, "--allow_submit", options.access.submit,
               "Certificate names that may submit and cancel tests, such as\n"
               "alice,ci.example.com; default: all signed by --tls_ca");
  AddNamesFlag(command, "--allow_node", options.access.node,
               "Certificate names that may be nodes, such as host1,host2;\n"
               "default: all signed by --tls_ca");
  AddGuardFlags(command, flags->guards);
  AddNumberFlag(command, "--max_nodes", options.max_nodes, 1, kMaxNodeNames,
                "COUNT", "Most nodes that may be registered at the same time");
  AddMetricsPortFlag(command, options.metrics_port);
  for (const auto& companion : flags->companions) {
    companion->AddFlags(command);
  }
  SetFooter(
      command,
      "Node managers register with the sequencer and run the tests that\n"
      "clients submit to it. SIGINT or SIGTERM ends it and the running test,\n"
      "and keeps what was measured; a second signal ends it at once.\n\n"
      "Examples, the second for this machine alone, with two nodes:\n"
      "  distbench test_sequencer --results_dir=/var/lib/distbench\n"
      "  distbench test_sequencer --local_nodes=2 --listen=localhost");
  SetBody(command, chosen, [flags] { return RunTestSequencer(*flags); });
}

}  // namespace distbench::cli
