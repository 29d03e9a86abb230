// The flags that bind a process to CPUs and memory.

#ifndef DISTBENCH_CLI_BINDING_FLAGS_H_
#define DISTBENCH_CLI_BINDING_FLAGS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"

namespace CLI {
class App;
}

namespace distbench::cli {

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

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_BINDING_FLAGS_H_
