// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A process that undoes the controls of a node manager that has died.
//
// The node manager holds one end of a socket, the guardian the other. The
// guardian has a session of its own and ignores the signals that end programs,
// so that whatever ends the node manager spares it. When the node manager's end
// is closed without a farewell, it undoes what the journal says.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GUARDIAN_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GUARDIAN_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/files.h"
#include "distbench/products/protection/control_groups/group_files.h"

namespace distbench::protection {

// The subcommand that a guardian runs; its argument is the journal's path.
inline constexpr char kGuardianSubcommand[] = "control_guardian";

// The node manager's side. If it is destroyed without Dismiss(), the guardian
// acts.
class Guardian {
 public:
  virtual ~Guardian() = default;

  // Tells it that there is nothing to undo, and waits for its end.
  virtual void Dismiss() = 0;
};

// Starts a guardian of a journal, and returns when it is on watch.
using GuardianStarter = std::function<absl::StatusOr<std::unique_ptr<Guardian>>(
    const std::string& journal)>;

// Starts this program again with kGuardianSubcommand, which it must implement
// by RunGuardian().
absl::StatusOr<std::unique_ptr<Guardian>> StartGuardianProcess(
    const std::string& journal);

// The guardian's side: watches until the end. `socket` is what it inherited.
// Ignores the signals that end programs, for the whole process. Returns an
// error if it cannot watch, or could not undo everything; the journal then
// remains for RecoverAbandoned().
absl::Status RunGuardian(base::FileDescriptor socket,
                         const std::string& journal, GroupFiles& files);

// What a node manager and its guardian say to each other, a byte each.

inline constexpr char kOnWatch = 'w';    // by the guardian
inline constexpr char kDismissed = 'd';  // by the node manager

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GUARDIAN_H_
