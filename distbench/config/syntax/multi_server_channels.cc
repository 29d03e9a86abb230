#include "distbench/config/syntax/multi_server_channels.h"

#include <algorithm>
#include <set>
#include <string>

namespace distbench::config {

std::vector<int> MembersOf(const MultiServerChannel& channel,
                           const Grid& grid) {
  std::vector<Attributes> instances;
  for (int number = 0; number < grid.Count(); ++number) {
    // Only constraints use attributes.
    instances.push_back(channel.has_constraints()
                            ? InstanceAttributes(grid, number)
                            : Attributes());
  }
  return MembersOf(channel, instances);
}

std::vector<int> MembersOf(const MultiServerChannel& channel,
                           const std::vector<Attributes>& instances) {
  const int count = static_cast<int>(instances.size());
  std::set<int> members;
  for (const int number : channel.selected_instances()) {
    if (number >= 0 && number < count) members.insert(number);
  }
  if (channel.has_constraints()) {
    for (int number = 0; number < count; ++number) {
      if (Matches(channel.constraints(), instances[number])) {
        members.insert(number);
      }
    }
  }
  return {members.begin(), members.end()};
}

bool DependsOnPlacement(const MultiServerChannel& channel, const Grid& grid) {
  const std::vector<std::string> own = InstanceAttributeNames(grid);
  for (const ConstraintSet& set : channel.constraints().constraint_sets()) {
    for (const Constraint& constraint : set.constraints()) {
      if (std::find(own.begin(), own.end(), constraint.attribute_name()) ==
          own.end()) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace distbench::config
