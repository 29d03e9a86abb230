#ifndef DISTBENCH_CLI_NODE_ARGUMENTS_H_
#define DISTBENCH_CLI_NODE_ARGUMENTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace distbench::cli {

// The positional arguments of a node manager.
struct NodeArguments {
  int preassigned_id = -1;  // -1: chosen by the sequencer
  std::vector<std::pair<std::string, std::string>> attributes;
};

// Parses "[nodeN] [name=value ...]". The error names the wrong argument and
// says what would be right.
absl::StatusOr<NodeArguments> ParseNodeArguments(
    const std::vector<std::string>& arguments);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_NODE_ARGUMENTS_H_
