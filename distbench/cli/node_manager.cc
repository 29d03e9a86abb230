#include <sys/resource.h>

#include <CLI/CLI.hpp>
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
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/stop_signals.h"
#include "distbench/cli/binding_flags.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/exposure.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/node_arguments.h"
#include "distbench/cli/output.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/process_engines.h"
#include "distbench/node/node_manager.h"
#include "distbench/numa/binding.h"
#include "distbench/numa/thread_binding.h"
#include "distbench/report/findings/verdict.h"
#include "distbench/security/credentials.h"
#include "distbench/security/tls_files.h"

namespace distbench {

namespace {

// How long the sequencer may take to collect the node's measurements when the
// node is told to end.
constexpr absl::Duration kLeavePatience = absl::Seconds(10);

struct Flags {
  std::vector<std::string> arguments;
  std::string test_sequencer;
  TlsFiles tls;
  int port = 0;
  std::optional<int> metrics_port;
  std::string listen;
  std::string service_address;
  BindingFlags binding;
  int workers = 0;
  std::string control_state_dir;
  EngineLimits engine_limits;
};

constexpr int kMaxWorkers = 1024;

// Any engine needs as many.
constexpr int64_t kLeastFiles = 64;
constexpr int64_t kLeastThreads = 16;
constexpr int64_t kMostOfEngine = 10'000'000;

// Engines inherit the hard limit of this process.
absl::Status CheckFileLimit(const EngineLimits& limits) {
  rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 ||
      files.rlim_max == RLIM_INFINITY ||
      limits.max_files <= static_cast<int64_t>(files.rlim_max)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--engine_max_files=", limits.max_files,
                   " is more than this process may give: ", files.rlim_max,
                   "; raise ulimit -Hn (under systemd LimitNOFILE)"));
}

// The first call does not return: it restarts the program with the binding.
absl::StatusOr<std::optional<NumaBinding>> Bind(const BindingFlags& flags) {
  absl::StatusOr<std::optional<NumaBinding>> asked = ParseBindingFlags(flags);
  if (!asked.ok() || !asked->has_value()) return asked;
  const absl::StatusOr<ResolvedBinding> made = BindProcess(**asked);
  if (!made.ok()) return made.status();
  return made->proto;
}

int RunNodeManager(const Flags& flags) {
  const absl::StatusOr<std::optional<NumaBinding>> binding =
      Bind(flags.binding);
  if (!binding.ok()) return Fail(binding.status(), kExitUsage);
  absl::StatusOr<NodeArguments> arguments = ParseNodeArguments(flags.arguments);
  if (!arguments.ok()) return Fail(arguments.status(), kExitUsage);

  if (absl::Status status = CheckFileLimit(flags.engine_limits); !status.ok()) {
    return Fail(status, kExitUsage);
  }
  const auto tls = TlsCredentials::Load(flags.tls, TlsRole::kNode);
  if (!tls.ok()) return Fail(tls.status(), kExitUsage);

  StopSignals stop(kExitRunFailed);
  // Before the node is registered there is nothing to end.
  stop.SetHandler([] { std::_Exit(kExitOk); });

  ProcessEngines engines(flags.engine_limits);
  absl::Status end;
  NodeManagerOptions options;
  options.engines = &engines;
  options.sequencer = flags.test_sequencer;
  options.preassigned_id = arguments->preassigned_id;
  options.attributes = std::move(arguments->attributes);
  options.service_address = flags.service_address;
  options.listen_address = flags.listen;
  options.port = flags.port;
  options.metrics_port = flags.metrics_port;
  options.tls = *tls;
  options.binding = *binding;
  options.workers_per_instance = flags.workers;
  options.control_state_dir = flags.control_state_dir;
  options.on_ended = [&](absl::Status status) {
    end = std::move(status);
    stop.Request();
  };
  if (binding->has_value()) {
    std::cout << "Bound to " << DescribeBinding(**binding) << std::endl;
  }
  std::cout << "Registering with " << flags.test_sequencer << std::endl;
  const absl::StatusOr<std::unique_ptr<NodeManager>> node =
      NodeManager::Start(std::move(options));
  if (!node.ok()) return Fail(node.status(), kExitUsage);
  stop.SetHandler({});

  std::cout << (*node)->alias() << " registered with " << flags.test_sequencer
            << '\n'
            << NodeExposure(flags.listen, flags.service_address, flags.tls)
            << std::endl;
  if ((*node)->metrics_port() != 0) {
    std::cout << "Metrics at port " << (*node)->metrics_port() << std::endl;
  }
  stop.Wait();
  (*node)->Leave(kLeavePatience);
  (*node)->Shutdown();
  return end.ok() ? kExitOk : Fail(end, kExitRunFailed);
}

void AddEngineLimitFlags(CLI::App& command, EngineLimits& limits) {
  command
      .add_option("--engine_max_files", limits.max_files,
                  "Files and sockets that each engine process may have\n"
                  "open; default: as many as this process")
      ->check(CLI::Range(kLeastFiles, kMostOfEngine).description(""))
      ->type_name("N");
  command
      .add_option("--engine_max_threads", limits.max_threads,
                  "Threads that each engine process may have, those of\n"
                  "libraries included; default: what the host allows")
      ->check(CLI::Range(kLeastThreads, kMostOfEngine).description(""))
      ->type_name("N");
}

}  // namespace

void AddNodeManagerCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command = app.add_subcommand(
      "node_manager",
      "Makes this host a node of a test sequencer until SIGINT");
  auto flags = std::make_shared<Flags>();
  command
      ->add_option("ARGUMENTS", flags->arguments,
                   "nodeN: the node's name, otherwise chosen by the\n"
                   "sequencer; then name=value: attributes for the\n"
                   "service constraints of tests")
      ->type_name("NODE")
      ->option_text(" ");
  AddTestSequencerFlag(*command, flags->test_sequencer);
  AddTlsFlags(*command, flags->tls);
  AddPortFlag(*command, flags->port,
              "Port of this node's health service (grpc.health.v1), which\n"
              "the sequencer is told; 0: none");
  AddMetricsPortFlag(*command, flags->metrics_port);
  AddListenFlag(*command, flags->listen,
                "Address on which this node and the services of tests\n"
                "listen; default: all interfaces, or --service_address if\n"
                "that is given");
  AddTextFlag(*command, "--service_address", flags->service_address, "ADDRESS",
              "Address at which other nodes reach the services on this\n"
              "node; default: detected");
  AddBindingFlags(*command, flags->binding);
  command
      ->add_option("--workers", flags->workers,
                   "Threads per instance on this node, unless the test sets\n"
                   "them; 0: the sequencer divides the host's CPUs")
      ->check(CLI::Range(0, kMaxWorkers).description(""))
      ->type_name("N")
      ->capture_default_str();
  AddEngineLimitFlags(*command, flags->engine_limits);
  AddTextFlag(*command, "--control_state_dir", flags->control_state_dir, "DIR",
              "Where to note what the controls of tests change, so that it\n"
              "can be undone after a crash; default: /run/distbench or,\n"
              "without root, a folder of the user's");
  command->footer(
      "Registers with the sequencer and runs the services assigned to it.\n"
      "Registers again if the sequencer restarts or was unreachable for a\n"
      "while. SIGINT or SIGTERM ends it and the test that it takes part in;\n"
      "the test's result keeps what was measured. A second signal ends it at\n"
      "once.\n\n"
      "Examples:\n"
      "  distbench node_manager --test_sequencer=host1:10000\n"
      "  distbench node_manager node3 rack=a7 --test_sequencer=host1:10000\n"
      "  distbench node_manager --numa_node=1 --test_sequencer=host1:10000");
  command->callback([flags, &chosen] {
    chosen = [flags] { return RunNodeManager(*flags); };
  });
}

}  // namespace distbench
