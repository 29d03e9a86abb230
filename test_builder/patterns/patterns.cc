#include "test_builder/patterns/pattern.h"

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

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

std::vector<std::string> PatternNames() { return NamesOf(AllPatterns()); }

const Pattern* FindPattern(absl::string_view name) {
  return FindNamed(AllPatterns(), name);
}

}  // namespace distbench::test_builder
