// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/node_flags.h"

#include <sys/resource.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/index_list.h"
#include "distbench/base/plugins.h"
#include "distbench/cli/flags.h"
#include "distbench/node/host_facts.h"
#include "distbench/node/node_extension.h"
#include "distbench/numa/binding.h"
#include "distbench/numa/thread_binding.h"
#include "distbench/security/test_guards.h"

namespace distbench::cli {
namespace {

absl::Status CheckList(const char* flag, const std::string& list) {
  const absl::StatusOr<base::IndexSet> indices = base::ParseIndexList(list);
  if (indices.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": ", indices.status().message()));
}

absl::Status ParsePolicy(const BindingFlags& flags, NumaBinding& binding) {
  if (flags.mem_policy.empty()) return absl::OkStatus();
  NumaBinding::MemoryPolicy policy;
  if (flags.mem_policy != absl::AsciiStrToLower(flags.mem_policy) ||
      !NumaBinding::MemoryPolicy_Parse(absl::AsciiStrToUpper(flags.mem_policy),
                                       &policy)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--mem_policy: \"", flags.mem_policy,
                     "\" is not a policy; use bind, preferred, interleave or "
                     "local"));
  }
  if (policy == NumaBinding::LOCAL && !flags.mem_nodes.empty()) {
    return absl::InvalidArgumentError(
        "--mem_nodes has no effect with --mem_policy=local, which uses the "
        "memory of the CPU's node; remove one of them");
  }
  binding.set_memory_policy(policy);
  return absl::OkStatus();
}

}  // namespace

void AddBindingFlags(CLI::App& command, BindingFlags& flags) {
  AddTextFlag(command, "--numa_node", flags.numa_node, "LIST",
              "Run on the CPUs of these NUMA nodes and use their\n"
              "memory, such as 1 or 0,2");
  AddTextFlag(command, "--cpus", flags.cpus, "LIST",
              "Run on these CPUs, such as 0-7,16-23; excludes --numa_node");
  AddTextFlag(command, "--mem_policy", flags.mem_policy,
              "bind|preferred|interleave|local",
              "bind: use only the nodes' memory; preferred: use other\n"
              "memory once the nodes' memory is full; interleave: take\n"
              "pages from the nodes in turn; local: use the memory of\n"
              "the CPU's node. Default: bind with --numa_node, else local");
  AddTextFlag(command, "--mem_nodes", flags.mem_nodes, "LIST",
              "Use the memory of these NUMA nodes, such as 0-1;\n"
              "default: the nodes of the CPUs");
}

absl::StatusOr<std::optional<NumaBinding>> ParseBindingFlags(
    const BindingFlags& flags) {
  NumaBinding binding;
  absl::Status status = ParsePolicy(flags, binding);
  status.Update(CheckList("--numa_node", flags.numa_node));
  status.Update(CheckList("--cpus", flags.cpus));
  status.Update(CheckList("--mem_nodes", flags.mem_nodes));
  if (!status.ok()) return status;
  if (!flags.numa_node.empty() && !flags.cpus.empty()) {
    return absl::InvalidArgumentError(
        "--cpus excludes --numa_node; remove one of them (--mem_nodes selects "
        "the memory)");
  }
  if (!flags.numa_node.empty()) binding.set_nodes(flags.numa_node);
  if (!flags.cpus.empty()) binding.set_cpus(flags.cpus);
  if (!flags.mem_nodes.empty()) binding.set_memory_nodes(flags.mem_nodes);
  if (binding.ByteSizeLong() == 0) return std::nullopt;
  return binding;
}

namespace {

constexpr int kMaxNodeId = 99'999;

// Parses "nodeN". Returns whether `argument` has that form.
bool ParseNodeName(absl::string_view argument, int& id) {
  return absl::ConsumePrefix(&argument, "node") && !argument.empty() &&
         argument.find_first_not_of("0123456789") == absl::string_view::npos &&
         absl::SimpleAtoi(argument, &id) && id <= kMaxNodeId;
}

}  // namespace

absl::StatusOr<NodeArguments> ParseNodeArguments(
    const std::vector<std::string>& arguments) {
  NodeArguments parsed;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (i == 0 && ParseNodeName(argument, parsed.preassigned_id)) continue;
    std::pair<std::string, std::string> attribute =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    if (attribute.first.empty() || attribute.first == argument) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", argument, "\" is neither an attribute (name=value) nor, if it ",
          "comes first, a node name: node0 to node", kMaxNodeId));
    }
    parsed.attributes.push_back(std::move(attribute));
  }
  return parsed;
}

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

void AddEngineFlag(CLI::App& command, std::vector<std::string>& engines) {
  AddRepeatedFlag(command, "--engine", engines, "NAME=PATH",
                  "Another program that hosts services of tests, which ask\n"
                  "for it by NAME: distbench or distbench_engine of another\n"
                  "build, such as with another version of gRPC; repeatable");
}

namespace {

void AddSettingFlag(CLI::App& command,
                    const node::NodeSettingDeclaration& setting,
                    NodeFlags& flags) {
  const std::string flag = absl::StrCat("--", setting.name);
  if (setting.is_repeatable) {
    AddRepeatedFlag(command, flag, flags.repeatable_settings[setting.name],
                    setting.placeholder, setting.help);
  } else {
    AddTextFlag(command, flag, flags.options.product_settings[setting.name],
                setting.placeholder, setting.help);
  }
}

node::NodeSettings SettingsOf(const NodeFlags& flags) {
  node::NodeSettings settings = flags.options.product_settings;
  for (const auto& [name, values] : flags.repeatable_settings) {
    settings[name] = absl::StrJoin(values, "\n");
  }
  return settings;
}

}  // namespace

void AddNodeFlags(CLI::App& command, NodeFlags& flags) {
  AddListenFlag(command, flags.options.listen_address,
                "Address on which this node and the services of tests\n"
                "listen; default: all interfaces, or --service_address if\n"
                "that is given");
  AddTextFlag(command, "--service_address", flags.options.service_address,
              "ADDRESS",
              "Address at which other nodes reach the services on this\n"
              "node; default: detected");
  AddBindingFlags(command, flags.binding);
  AddNumberFlag(command, "--workers", flags.options.workers_per_instance, 0,
                kMaxWorkers, "N",
                "Threads per instance on this node, unless the test sets\n"
                "them; 0: the sequencer divides the host's CPUs");
  AddEngineFlag(command, flags.engines);
  AddEngineLimitFlags(command, flags.engine_limits);
  for (const auto& [product, extension] :
       base::Plugins<node::NodeExtension>::All()) {
    for (const node::NodeSettingDeclaration& setting : extension->settings()) {
      AddSettingFlag(command, setting, flags);
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
  const node::NodeSettings settings = SettingsOf(flags);
  for (const auto& [product, extension] :
       base::Plugins<node::NodeExtension>::All()) {
    absl::Status status = extension->CheckSettings(settings);
    if (!status.ok()) return status;
  }
  return CheckFileLimit(flags.engine_limits);
}

node::NodeManagerOptions ToNodeOptions(
    const NodeFlags& flags, const std::optional<NumaBinding>& binding,
    hosting::EngineFactory& engines) {
  node::NodeManagerOptions options = flags.options;
  options.engines = &engines;
  options.binding = binding;
  options.product_settings = SettingsOf(flags);
  options.lasting_facts = node::FindLastingFacts();
  options.guards = security::TestGuards::Make(flags.guards).value();
  return options;
}

}  // namespace distbench::cli
