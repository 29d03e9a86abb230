// The folder in which node managers keep their journals.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_STATE_FOLDER_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_STATE_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"

namespace distbench::protection {

// Returns the default: /run/distbench for root, $XDG_RUNTIME_DIR/distbench for
// others, or else a folder in /tmp with the user's number in its name. All but
// the last are empty after a reboot, as are the control groups.
std::string StateFolder();

// Makes the folder, unless it exists. PERMISSION_DENIED if others could put a
// journal there, which would be executed.
absl::Status MakeStateFolder(const std::string& folder);

// How long to wait for the lock of the folder.
inline constexpr absl::Duration kLockPatience = absl::Seconds(10);

// Locks the folder against other processes that look for journals or create
// them, until the descriptor is closed. UNAVAILABLE if that takes longer than
// `patience`.
absl::StatusOr<base::FileDescriptor> LockStateFolder(const std::string& folder,
                                                     absl::Duration patience);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_STATE_FOLDER_H_
