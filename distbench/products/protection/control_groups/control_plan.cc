// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/control_plan.h"

#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/syntax/constraints.h"

namespace distbench::protection {
namespace {

// The kernel allows 255 bytes.
constexpr size_t kMaxNameBytes = 100;

bool Names(const ControlGroup& group, const std::string& service) {
  for (const std::string& pattern : group.services()) {
    if (config::GlobMatches(pattern, service)) return true;
  }
  return false;
}

// The position of an instance's group; that after the last if none names it.
int GroupIndexOf(const ControlledInstance& instance, const ControlSet& set) {
  int index = 0;
  while (index < set.groups_size() &&
         !Names(set.groups(index), instance.service)) {
    ++index;
  }
  return index;
}

// The number keeps it apart from the others and from the kernel's files; the
// rest is for people who look.
std::string FolderName(const std::string& instance, size_t index) {
  std::string name = absl::StrCat(index, "-", instance);
  for (char& c : name) {
    if (!absl::ascii_isalnum(c) && c != '-' && c != '_') c = '.';
  }
  return name.substr(0, kMaxNameBytes);
}

void MoveTo(std::vector<FileSetting>& to, std::vector<FileSetting> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()),
            std::make_move_iterator(from.end()));
}

std::vector<PlannedGroup> EmptyGroups(const ControlSet& set,
                                      const HostAmounts& host) {
  std::vector<PlannedGroup> groups;
  for (const ControlGroup& group : set.groups()) {
    groups.push_back(
        {.folder_name = absl::StrCat("distbench.group-", groups.size()),
         .members = {},
         .settings = SettingsOf(group, host)});
  }
  groups.push_back(
      {.folder_name = "distbench.rest", .members = {}, .settings = {}});
  return groups;
}

}  // namespace

ControlPlan PlanControls(const ControlSet& set,
                         absl::Span<const ControlledInstance> instances,
                         const HostAmounts& host) {
  std::vector<PlannedGroup> groups = EmptyGroups(set, host);
  for (const ControlledInstance& instance : instances) {
    auto& members = groups[GroupIndexOf(instance, set)].members;
    members.push_back(
        {instance.name, FolderName(instance.name, members.size())});
  }
  ControlPlan plan;
  for (int i = 0; i < set.groups_size(); ++i) {
    if (set.groups(i).everything_else()) {
      MoveTo(plan.everything_else, std::move(groups[i].settings));
    }
  }
  RefuseRepeatedDevices(plan.everything_else);
  for (PlannedGroup& group : groups) {
    if (!group.members.empty()) plan.groups.push_back(std::move(group));
  }
  for (const IoCostSettings& device : set.io_cost()) {
    MoveTo(plan.devices, SettingsOf(device, host));
  }
  RefuseRepeatedDevices(plan.devices);
  return plan;
}

std::string InstancesOf(const PlannedGroup& group) {
  return absl::StrJoin(group.members, ", ",
                       [](std::string* out, const PlannedGroup::Member& each) {
                         absl::StrAppend(out, each.instance);
                       });
}

}  // namespace distbench::protection
