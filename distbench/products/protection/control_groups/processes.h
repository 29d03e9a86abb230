// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The processes in control groups: moving them, and ending them.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_PROCESSES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_PROCESSES_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/protection/control_groups/group_files.h"

namespace distbench::protection {

// Returns the processes of a group, not of those below it. NOT_FOUND if there
// is no such group.
absl::StatusOr<std::vector<pid_t>> ProcessesOf(const std::string& folder,
                                               const GroupFiles& files);

// FAILED_PRECONDITION if a group has processes other than this one and those
// that it started, directly or not: they are not ours to move. The message
// names them. /proc is read below `root`.
absl::Status CheckOwnProcesses(const std::string& root,
                               const std::string& folder,
                               const GroupFiles& files);

// Moves all processes of a group, including those that start meanwhile, to
// another.
absl::Status MoveProcesses(const std::string& from, const std::string& to,
                           GroupFiles& files);

// Moves the processes of a group to another, and removes the first. Does
// nothing if it does not exist.
absl::Status LeaveGroup(const std::string& folder, const std::string& to,
                        GroupFiles& files);

// Kills all processes of a group and, if the kernel has cgroup.kill, of those
// below it. Does not wait until they are gone.
void KillGroup(const std::string& folder, GroupFiles& files);

// Kills all processes of a group and of those below it, and removes these
// groups. They may take `patience` to die. Does nothing if it does not exist.
absl::Status EndAndRemoveGroup(const std::string& folder, GroupFiles& files,
                               absl::Duration patience);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_PROCESSES_H_
