#include "distbench/report/comparison/run_groups.h"

#include <cstddef>
#include <map>

namespace distbench::report {

std::vector<RunGroup> GroupRuns(
    absl::Span<const TestRun> runs,
    const std::function<std::string(const TestRun&)>& key_of) {
  std::vector<RunGroup> groups;
  std::map<std::string, size_t> positions;
  for (const TestRun& run : runs) {
    const auto [position, is_new] =
        positions.emplace(key_of(run), groups.size());
    if (is_new) groups.push_back({position->first, {}});
    groups[position->second].runs.push_back(run);
  }
  return groups;
}

}  // namespace distbench::report
