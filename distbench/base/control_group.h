#ifndef DISTBENCH_BASE_CONTROL_GROUP_H_
#define DISTBENCH_BASE_CONTROL_GROUP_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::base {

// Called so because a message of configs has the name ControlGroup.
struct ControlGroupFolder {
  std::string folder;
  int version = 2;  // of the kernel interface; file names depend on it
};

// Returns the control groups of this process, of either version, that a
// controller ("memory", "pids") may limit: its own and those above it. Groups
// that are not visible, as from inside a container, are included; their files
// are missing. Files are read below `root`; an empty `root` stands for the real
// file system.
std::vector<ControlGroupFolder> ControlGroupsOf(absl::string_view controller,
                                                const std::string& root);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_CONTROL_GROUP_H_
