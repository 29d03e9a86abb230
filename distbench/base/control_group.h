#ifndef DISTBENCH_BASE_CONTROL_GROUP_H_
#define DISTBENCH_BASE_CONTROL_GROUP_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench {

// The folder of a control group.
struct ControlGroup {
  std::string folder;
  int version = 2;  // of the kernel's interface: names of files depend on it
};

// The groups of this process that a controller ("memory", "pids") may limit:
// its own and those above, of either version. Those that are not to be seen,
// as from within a container, are among them: their files are missing. Files
// are read below `root`; empty: at their places.
std::vector<ControlGroup> ControlGroupsOf(absl::string_view controller,
                                          const std::string& root);

}  // namespace distbench

#endif  // DISTBENCH_BASE_CONTROL_GROUP_H_
