#include "distbench/config/plan/test_names.h"

namespace distbench::config {

void NameIndex::Add(const std::string& name) {
  positions_.emplace(name, names_.size());
  names_.push_back(name);
}

int NameIndex::Find(absl::string_view name) const {
  const auto it = positions_.find(name);
  return it == positions_.end() ? kNone : it->second;
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

}  // namespace distbench::config
