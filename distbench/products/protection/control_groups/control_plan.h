// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What the controls of a test mean for the instances of a host.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_CONTROL_PLAN_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_CONTROL_PLAN_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/products/protection/control_groups/settings.h"
#include "proto/experiment.pb.h"

namespace distbench::protection {

struct ControlledInstance {
  std::string name;     // "server/0"
  std::string service;  // "server"
};

// A group in the delegated one, with a group below it for each instance.
struct PlannedGroup {
  struct Member {
    std::string instance;
    std::string folder_name;  // unique in the group, and not a file's name
  };

  std::string folder_name;
  std::vector<Member> members;
  std::vector<FileSetting> settings;
};

struct ControlPlan {
  std::vector<PlannedGroup> groups;
  std::vector<FileSetting> everything_else;
  std::vector<FileSetting> devices;  // files at the root of the hierarchy
};

// An instance belongs to the first group that names its service. Groups without
// instances here are left out; instances without a group share one that has no
// settings.
ControlPlan PlanControls(const ControlSet& set,
                         absl::Span<const ControlledInstance> instances,
                         const HostAmounts& host);

// "server/0, server/1".
std::string InstancesOf(const PlannedGroup& group);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_CONTROL_PLAN_H_
