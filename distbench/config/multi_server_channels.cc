#include "distbench/config/multi_server_channels.h"

#include <set>

#include "distbench/config/constraints.h"

namespace distbench {

std::vector<int> MembersOf(const MultiServerChannel& channel,
                           const Grid& grid) {
  std::set<int> members;
  for (const int number : channel.selected_instances()) {
    if (number >= 0 && number < grid.Count()) members.insert(number);
  }
  if (channel.has_constraints()) {
    for (int number = 0; number < grid.Count(); ++number) {
      if (Matches(channel.constraints(), InstanceAttributes(grid, number))) {
        members.insert(number);
      }
    }
  }
  return {members.begin(), members.end()};
}

}  // namespace distbench
