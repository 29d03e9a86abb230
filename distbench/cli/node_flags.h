// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The flags of a process that is a node: where it listens, what it runs on, and
// what its engines may use.

#ifndef DISTBENCH_CLI_NODE_FLAGS_H_
#define DISTBENCH_CLI_NODE_FLAGS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/process_engines.h"
#include "distbench/node/node_manager.h"
#include "distbench/security/test_guards.h"
#include "proto/traffic_config.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace distbench::cli {

// The flags that bind a process to CPUs and memory.
struct BindingFlags {
  std::string numa_node;
  std::string cpus;
  std::string mem_policy;
  std::string mem_nodes;
};

// Adds --numa_node, --cpus, --mem_policy and --mem_nodes. `flags` must outlive
// the parsing.
void AddBindingFlags(CLI::App& command, BindingFlags& flags);

// Returns the requested binding, or nothing if no flag was given. The error
// names the wrong flag and says how to correct it.
absl::StatusOr<std::optional<NumaBinding>> ParseBindingFlags(
    const BindingFlags& flags);

// The positional arguments of a node manager.
struct NodeArguments {
  int preassigned_id = -1;  // -1: chosen by the sequencer
  std::vector<std::pair<std::string, std::string>> attributes;
};

// Parses "[nodeN] [name=value ...]". The error names the wrong argument and
// says what would be right.
absl::StatusOr<NodeArguments> ParseNodeArguments(
    const std::vector<std::string>& arguments);

struct NodeFlags {
  // Those that flags give as they are.
  node::NodeManagerOptions options;

  BindingFlags binding;
  // Of products, by their names; those that may be given several times.
  std::map<std::string, std::vector<std::string>> repeatable_settings;

  hosting::EngineLimits engine_limits;
  std::vector<std::string> engines;  // each "NAME=PATH"
  security::GuardFlagValues guards;
};

// Adds --engine, for the nodes of this process; see hosting::FindEngines().
// `engines` must outlive the parsing.
void AddEngineFlag(CLI::App& command, std::vector<std::string>& engines);

// Adds --listen, --service_address, --numa_node, --cpus, --mem_policy,
// --mem_nodes, --workers, --engine, --engine_max_files, --engine_max_threads,
// those of guards, and a flag for each setting of products (NodeExtension).
// `flags` must outlive the parsing.
void AddNodeFlags(CLI::App& command, NodeFlags& flags);

// Binds the process as the flags say; call it before there are other threads.
// The first call does not return if there is a binding: it restarts the program
// with it.
absl::StatusOr<std::optional<NumaBinding>> BindAsFlagged(
    const NodeFlags& flags);

// Checks what no single flag shows.
absl::Status CheckNodeFlags(const NodeFlags& flags);

// The options that the flags, which CheckNodeFlags() accepts, and the binding
// of the process determine.
// `engines` must outlive the node.
node::NodeManagerOptions ToNodeOptions(
    const NodeFlags& flags, const std::optional<NumaBinding>& binding,
    hosting::EngineFactory& engines);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_NODE_FLAGS_H_
