#include "distbench/products/launching/job/launcher_environment.h"

#include <unistd.h>

#include "absl/strings/str_split.h"

namespace distbench::launching {

LauncherEnvironment LauncherEnvironment::OfThisProcess() {
  std::map<std::string, std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    std::pair<std::string, std::string> variable =
        absl::StrSplit(*each, absl::MaxSplits('=', 1));
    variables.insert(std::move(variable));
  }
  return LauncherEnvironment(std::move(variables));
}

std::optional<std::string> LauncherEnvironment::Get(
    const std::string& name) const {
  const auto it = variables_.find(name);
  if (it == variables_.end() || it->second.empty()) return std::nullopt;
  return it->second;
}

}  // namespace distbench::launching
