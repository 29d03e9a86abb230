#include "distbench/products/blame/handler_actions.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace distbench::blame {
namespace {

template <typename Entries>
auto ByName(const Entries& entries) {
  std::map<std::string, const typename Entries::value_type*> by_name;
  for (const auto& entry : entries) by_name[entry.name()] = &entry;
  return by_name;
}

// stochastic{1:4} always has four targets, stochastic{0.7:1,0.3:4} has not.
bool HasVaryingFanout(const RpcSpec& rpc) {
  return absl::StartsWith(rpc.fanout_filter(), "stochastic") &&
         absl::StrContains(rpc.fanout_filter(), ",");
}

bool HasVaryingIterations(const Action& action) {
  const Iterations& iterations = action.iterations();
  return action.has_iterations() &&
         (!iterations.has_max_iteration_count() ||
          iterations.has_max_duration_us() || iterations.has_max_duration());
}

}  // namespace

HandlerActions::HandlerActions(const DistributedSystemDescription& config) {
  const auto actions = ByName(config.actions());
  const auto rpcs = ByName(config.rpc_descriptions());
  const auto varies = [&](const Action& action) {
    const auto rpc = rpcs.find(action.rpc_name());
    return action.predicates_size() > 0 || HasVaryingIterations(action) ||
           (rpc != rpcs.end() && HasVaryingFanout(*rpc->second));
  };
  // A list that a varying action starts varies as a whole.
  std::set<std::string> varying_lists;
  for (bool is_done = false; !is_done;) {
    const size_t size_before = varying_lists.size();
    for (int i = 0; i < config.action_lists_size(); ++i) {
      const ActionList& list = config.action_lists(i);
      for (int j = 0; j < list.action_names_size(); ++j) {
        const auto found = actions.find(list.action_names(j));
        if (found == actions.end()) continue;
        const Action& action = *found->second;
        if (!varies(action) && varying_lists.count(list.name()) == 0) continue;
        varying_.insert({i, j});
        if (action.has_action_list_name()) {
          varying_lists.insert(action.action_list_name());
        }
      }
    }
    is_done = varying_lists.size() == size_before;
  }
  for (const ActionList& list : config.action_lists()) {
    for (const std::string& name : list.action_names()) {
      const auto found = actions.find(name);
      if (found != actions.end() && found->second->send_response_when_done()) {
        answering_early_.insert(list.name());
      }
    }
  }
}

}  // namespace distbench::blame
