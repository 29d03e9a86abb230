#include "distbench/cli/node_arguments.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace distbench::cli {

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

}  // namespace distbench::cli
