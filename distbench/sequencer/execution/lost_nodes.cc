#include "distbench/sequencer/execution/lost_nodes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace distbench::sequencer {

void LostNodes::Add(const Participant& participant, Step step,
                    const std::string& reason) {
  auto group = std::find_if(
      groups_.begin(), groups_.end(),
      [&](const Group& g) { return g.step == step && g.reason == reason; });
  if (group == groups_.end()) {
    group = groups_.insert(group, {.step = step, .reason = reason});
  }
  group->names.Add(participant);
}

std::vector<std::string> LostNodes::Messages() const {
  std::vector<std::string> messages;
  for (const Group& group : groups_) {
    messages.push_back(absl::StrCat(
        group.names.Text(), group.names.count() == 1 ? " was" : " were",
        " lost ", WhenIs(group.step), ": ", group.reason));
  }
  return messages;
}

}  // namespace distbench::sequencer
