// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/engine_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench::results {

std::string EngineText(const EngineProgram& engine) {
  constexpr std::pair<const char*, const char*> kShown[] = {
      {"distbench", "distbench"}, {"revision", "revision"}, {"grpc", "gRPC"}};
  std::vector<std::string> parts;
  for (const auto& [key, shown] : kShown) {
    const auto found = engine.versions().find(key);
    if (found == engine.versions().end()) continue;
    parts.push_back(absl::StrCat(shown, " ", found->second));
  }
  if (parts.empty()) return engine.name();
  return absl::StrCat(engine.name(), " (", absl::StrJoin(parts, ", "), ")");
}

}  // namespace distbench::results
