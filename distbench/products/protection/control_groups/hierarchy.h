// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Which control groups this host has, and which of them this process may use.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_HIERARCHY_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_HIERARCHY_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// The group into which a node manager moves itself while it has groups of its
// own beside it: the kernel allows processes only where no controller is passed
// on to groups below.
inline constexpr char kManagerGroup[] = "distbench.manager";

// A mounted hierarchy of version 2, and the group that was delegated to this
// process: its own, below which it may create others.
struct GroupHierarchy {
  std::string mount;                  // the folder of the root group
  std::string delegated_path;         // below `mount`: "/" or "/system.slice/x"
  std::set<std::string> controllers;  // that the delegated group may pass on

  // Whether the delegated group is the root of the host's hierarchy, where
  // processes and passing on go together.
  bool is_host_root = false;

  // The folder of the group at a path below the mount.
  std::string Folder(absl::string_view path) const;
  std::string DelegatedFolder() const { return Folder(delegated_path); }
};

// Reads /proc and /sys below `root`; an empty `root` stands for the real file
// system. FAILED_PRECONDITION says why this process may not create groups
// (version 1, none, not delegated, not writable), and what to do about it.
absl::StatusOr<GroupHierarchy> FindHierarchy(const std::string& root,
                                             const GroupFiles& files);

// The same as facts of the host; never fails. `io_cost_devices` is empty unless
// this process may set io.cost.
ControlGroupFacts ReadControlGroupFacts(const std::string& root,
                                        const GroupFiles& files);

// Why a setting of a group is impossible whose controller is not passed on to
// the delegated group, which may pass on these.
absl::Status NotPassedOn(absl::string_view controller,
                         absl::string_view delegated_path,
                         const std::set<std::string>& controllers);

// Whether the group is a unit of systemd's: systemd runs, and the last part of
// the path is the name of a unit ("system.slice"). The root of the host's
// hierarchy is systemd's, too. systemd may overwrite the settings of a unit's
// own group, even if what is below was delegated to somebody.
bool IsUnitOfSystemd(const std::string& root, absl::string_view path);

// The groups beside the delegated one, which controls of "everything else"
// concern.

// Returns the paths of all groups that compete with the delegated one or with a
// group above it: on each level, those beside the group on the way to the root.
// Below a delegated root, those beside the test's own groups.
absl::StatusOr<std::vector<std::string>> NeighbourPaths(
    const GroupHierarchy& hierarchy, const GroupFiles& files);

// What a control group has used, by the kernel's statistics.

// Returns totals since the group was made. Fields whose statistics the kernel
// does not have (a controller that is not passed on, no PSI) are absent.
GroupUse ReadGroupUse(const std::string& folder, const GroupFiles& files);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_HIERARCHY_H_
