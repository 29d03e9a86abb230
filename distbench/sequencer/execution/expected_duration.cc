#include "distbench/sequencer/execution/expected_duration.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "distbench/base/saturating_add.h"

namespace distbench {
namespace {

using ActionsByName = absl::flat_hash_map<std::string, const Action*>;

int64_t LongestChainUs(const ActionList& list, const ActionsByName& actions) {
  int64_t longest_us = 0;
  std::map<std::string, int64_t> end_us;
  for (const std::string& name : list.action_names()) {
    const auto it = actions.find(name);
    if (it == actions.end()) continue;
    const Action& action = *it->second;
    int64_t start_us = 0;
    // Dependencies precede the actions that depend on them.
    for (const std::string& dependency : action.dependencies()) {
      start_us = std::max(start_us, end_us[dependency]);
    }
    end_us[name] =
        SaturatingAdd(start_us, action.iterations().max_duration_us());
    longest_us = std::max(longest_us, end_us[name]);
  }
  return longest_us;
}

}  // namespace

std::optional<int64_t> ExpectedDurationUs(
    const DistributedSystemDescription& test) {
  ActionsByName actions;
  for (const Action& action : test.actions()) actions[action.name()] = &action;
  int64_t longest_us = 0;
  for (const ActionList& list : test.action_lists()) {
    const bool is_main_list = std::any_of(
        test.services().begin(), test.services().end(),
        [&](const ServiceSpec& s) { return s.name() == list.name(); });
    if (is_main_list) {
      longest_us = std::max(longest_us, LongestChainUs(list, actions));
    }
  }
  if (longest_us == 0) return std::nullopt;
  return longest_us;
}

}  // namespace distbench
