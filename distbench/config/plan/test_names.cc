// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/plan/test_names.h"

#include <set>
#include <utility>

namespace distbench::config {

void NameIndex::Add(const std::string& name) {
  positions_.emplace(name, names_.size());
  names_.push_back(name);
}

int NameIndex::Find(absl::string_view name) const {
  const auto it = positions_.find(name);
  return it == positions_.end() ? kNone : it->second;
}

std::string NameOf(const DistributedSystemDescription& test) {
  if (!test.name().empty()) return test.name();
  const auto found = test.attributes().find("test_name");
  return found == test.attributes().end() ? "" : found->second;
}

TestNames::TestNames(const DistributedSystemDescription& test)
    : services(test.services()),
      payloads(test.payload_descriptions()),
      rpcs(test.rpc_descriptions()),
      actions(test.actions()),
      lists(test.action_lists()),
      driver_options(test.protocol_driver_options()),
      activities(test.activity_configs()),
      activity_pools(test.activity_pools()),
      joint_distributions(test.distribution_config()),
      delay_distributions(test.delay_distribution_configs()),
      size_distributions(test.size_distribution_configs()),
      replay_traces(test.rpc_replay_traces()),
      server_faults(test.server_faults()) {}

const NameIndex* TestNames::Of(int field_number) const {
  using Test = DistributedSystemDescription;
  const std::pair<int, const NameIndex*> all[] = {
      {Test::kServicesFieldNumber, &services},
      {Test::kPayloadDescriptionsFieldNumber, &payloads},
      {Test::kRpcDescriptionsFieldNumber, &rpcs},
      {Test::kActionsFieldNumber, &actions},
      {Test::kActionListsFieldNumber, &lists},
      {Test::kProtocolDriverOptionsFieldNumber, &driver_options},
      {Test::kActivityConfigsFieldNumber, &activities},
      {Test::kActivityPoolsFieldNumber, &activity_pools},
      {Test::kDistributionConfigFieldNumber, &joint_distributions},
      {Test::kDelayDistributionConfigsFieldNumber, &delay_distributions},
      {Test::kSizeDistributionConfigsFieldNumber, &size_distributions},
      {Test::kRpcReplayTracesFieldNumber, &replay_traces},
      {Test::kServerFaultsFieldNumber, &server_faults},
  };
  for (const auto& [number, index] : all) {
    if (number == field_number) return index;
  }
  return nullptr;
}

void ForEachActionOf(const DistributedSystemDescription& test,
                     const TestNames& names, const std::string& list,
                     absl::FunctionRef<void(const Action& action)> visit) {
  std::set<std::string> seen;
  std::vector<std::string> pending = {list};
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    const int index = names.lists.Find(name);
    if (index == kNone || !seen.insert(name).second) continue;
    for (const std::string& action_name :
         test.action_lists(index).action_names()) {
      const int position = names.actions.Find(action_name);
      if (position == kNone) continue;
      const Action& action = test.actions(position);
      visit(action);
      if (action.has_action_list_name()) {
        pending.push_back(action.action_list_name());
      }
    }
  }
}

}  // namespace distbench::config
