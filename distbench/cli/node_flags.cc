#include "distbench/cli/node_flags.h"

#include <sys/resource.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "distbench/base/plugins.h"
#include "distbench/cli/flags.h"
#include "distbench/node/host_facts.h"
#include "distbench/numa/binding.h"
#include "distbench/numa/thread_binding.h"
#include "distbench/security/test_guards.h"

namespace distbench::cli {

namespace {

constexpr int kMaxWorkers = 1024;

// Any engine needs as many.
constexpr int64_t kLeastFiles = 64;
constexpr int64_t kLeastThreads = 16;
constexpr int64_t kMostOfEngine = 10'000'000;

// Engines inherit the hard limit of this process.
absl::Status CheckFileLimit(const hosting::EngineLimits& limits) {
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

void AddEngineLimitFlags(CLI::App& command, hosting::EngineLimits& limits) {
  AddNumberFlag(command, "--engine_max_files", limits.max_files, kLeastFiles,
                kMostOfEngine, "N",
                "Files and sockets that each engine process may have\n"
                "open; default: as many as this process");
  AddNumberFlag(command, "--engine_max_threads", limits.max_threads,
                kLeastThreads, kMostOfEngine, "N",
                "Threads that each engine process may have, those of\n"
                "libraries included; default: what the host allows");
}

}  // namespace

void AddNodeFlags(CLI::App& command, NodeFlags& flags) {
  AddListenFlag(command, flags.listen,
                "Address on which this node and the services of tests\n"
                "listen; default: all interfaces, or --service_address if\n"
                "that is given");
  AddTextFlag(command, "--service_address", flags.service_address, "ADDRESS",
              "Address at which other nodes reach the services on this\n"
              "node; default: detected");
  AddBindingFlags(command, flags.binding);
  AddNumberFlag(command, "--workers", flags.workers, 0, kMaxWorkers, "N",
                "Threads per instance on this node, unless the test sets\n"
                "them; 0: the sequencer divides the host's CPUs");
  AddEngineLimitFlags(command, flags.engine_limits);
  for (const auto& [product, extension] :
       base::Plugins<node::NodeExtension>::All()) {
    for (const node::NodeSettingDeclaration& setting : extension->settings()) {
      AddTextFlag(command, absl::StrCat("--", setting.name),
                  flags.product_settings[setting.name], setting.placeholder,
                  setting.help);
    }
  }
  AddGuardFlags(command, flags.guards);
}

absl::StatusOr<std::optional<NumaBinding>> BindAsFlagged(
    const NodeFlags& flags) {
  absl::StatusOr<std::optional<NumaBinding>> asked =
      ParseBindingFlags(flags.binding);
  if (!asked.ok() || !asked->has_value()) return asked;
  const absl::StatusOr<numa::ResolvedBinding> made = numa::BindProcess(**asked);
  if (!made.ok()) return made.status();
  return made->proto;
}

absl::Status CheckNodeFlags(const NodeFlags& flags) {
  absl::Status guards = security::TestGuards::Make(flags.guards).status();
  if (!guards.ok()) return guards;
  return CheckFileLimit(flags.engine_limits);
}

node::NodeManagerOptions ToNodeOptions(
    const NodeFlags& flags, const std::optional<NumaBinding>& binding,
    hosting::EngineFactory& engines) {
  node::NodeManagerOptions options;
  options.engines = &engines;
  options.service_address = flags.service_address;
  options.listen_address = flags.listen;
  options.binding = binding;
  options.workers_per_instance = flags.workers;
  options.lasting_facts = node::FindLastingFacts();
  options.product_settings = flags.product_settings;
  options.guards = security::TestGuards::Make(flags.guards).value();
  return options;
}

}  // namespace distbench::cli
