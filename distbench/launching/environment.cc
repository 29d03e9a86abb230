#include "distbench/launching/environment.h"

#include <unistd.h>

#include "absl/strings/str_split.h"

namespace distbench {

Environment Environment::OfThisProcess() {
  std::map<std::string, std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    std::pair<std::string, std::string> variable =
        absl::StrSplit(*each, absl::MaxSplits('=', 1));
    variables.insert(std::move(variable));
  }
  return Environment(std::move(variables));
}

std::optional<std::string> Environment::Get(const std::string& name) const {
  const auto it = variables_.find(name);
  if (it == variables_.end() || it->second.empty()) return std::nullopt;
  return it->second;
}

}  // namespace distbench
