#include "distbench/products/trace_import/handler_lists.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace distbench::trace_import {

HandlerLists::HandlerLists(const TrafficModel& model, const ConfigNames& names)
    : model_(model), names_(names) {
  for (const auto& [name, instances] : model.services) {
    lists_.Take(names.Service(name));
  }
  for (size_t i = 0; i < model.rpcs.size(); ++i) lists_.Take(names.Rpc(i));
}

void HandlerLists::Add(int rpc, const std::string& delays,
                       DistributedSystemDescription& test) {
  const std::string& name = names_.Rpc(rpc);
  ActionList handler;
  handler.set_name(name);
  std::string work;
  if (!delays.empty()) {
    work = actions_.Take(name + ".work");
    Action& action = *test.add_actions();
    action.set_name(work);
    action.set_delay_distribution_name(delays);
    handler.add_action_names(work);
  }
  std::vector<std::string> calls;  // by group
  for (const CallGroup& group : model_.rpcs[rpc].groups) {
    Action action;
    action.set_name(
        actions_.Take(absl::StrCat(name, ".calls.", names_.Rpc(group.rpc))));
    if (!work.empty()) action.add_dependencies(work);
    for (const int before : group.after) {
      action.add_dependencies(calls[before]);
    }
    calls.push_back(action.name());
    handler.add_action_names(action.name());
    SetCalls(group, SimplifyCounts(group.counts), action, test);
    *test.add_actions() = action;
  }
  *test.add_action_lists() = handler;
}

void HandlerLists::SetCalls(const CallGroup& group, const CountWeights& counts,
                            Action& action,
                            DistributedSystemDescription& test) {
  if (counts.size() == 1) return SetCount(group, counts[0].first, action);
  // An action that a coin skips would skip those that depend on it, too. A list
  // is done, whatever its coins say.
  action.set_action_list_name(lists_.Take(action.name()));
  AddChoice(group, counts, action.action_list_name(), test);
}

void HandlerLists::SetCount(const CallGroup& group, int count,
                            Action& action) const {
  action.set_rpc_name(names_.Rpc(group.rpc));
  if (count == 1) return;
  action.mutable_iterations()->set_max_iteration_count(count);
  if (group.is_parallel) {
    action.mutable_iterations()->set_max_parallel_iterations(count);
  }
}

void HandlerLists::AddChoice(const CallGroup& group, const CountWeights& counts,
                             const std::string& name,
                             DistributedSystemDescription& test) {
  int64_t total = 0;
  for (const auto& [count, weight] : counts) total += weight;
  const auto [count, weight] = counts[0];
  const CountWeights others(counts.begin() + 1, counts.end());
  const std::string coin = absl::StrCat("calls_", count);

  ActionList list;
  list.set_name(name);
  (*list.mutable_predicate_probabilities())[coin] = static_cast<float>(
      static_cast<double>(weight) / static_cast<double>(total));
  if (count > 0) {
    Action action;
    action.set_name(actions_.Take(absl::StrCat(name, ".", count)));
    action.add_predicates(coin);
    SetCount(group, count, action);
    list.add_action_names(action.name());
    *test.add_actions() = action;
  }
  Action action;
  action.set_name(actions_.Take(absl::StrCat(name, ".not_", count)));
  action.add_predicates("!" + coin);
  SetCalls(group, others, action, test);
  list.add_action_names(action.name());
  *test.add_actions() = action;
  *test.add_action_lists() = list;
}

}  // namespace distbench::trace_import
