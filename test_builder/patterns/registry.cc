#include "test_builder/patterns/registry.h"

#include "test_builder/patterns/patterns.h"

namespace distbench::test_builder {

const std::vector<Pattern>& AllPatterns() {
  static const auto& patterns = *new std::vector<Pattern>{
      ClientServerPattern(),
      CliquePattern(),
      RectangularPattern(),
      TripartitePattern(),
      StochasticPattern(),
      MultiLevelRpcPattern(),
      VariableResponseMultiLevelRpcPattern(),
      FeedAggregatorPattern(),
      StorageServicePattern(),
      InferencePattern(),
      StreamingPattern(),
      HomaCpNodePattern(),
  };
  return patterns;
}

std::vector<std::string> PatternNames() {
  std::vector<std::string> names;
  for (const Pattern& pattern : AllPatterns()) names.push_back(pattern.name);
  return names;
}

const Pattern* FindPattern(absl::string_view name) {
  for (const Pattern& pattern : AllPatterns()) {
    if (pattern.name == name) return &pattern;
  }
  return nullptr;
}

}  // namespace distbench::test_builder
