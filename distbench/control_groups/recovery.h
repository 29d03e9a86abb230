// What dead processes left behind.

#ifndef DISTBENCH_CONTROL_GROUPS_RECOVERY_H_
#define DISTBENCH_CONTROL_GROUPS_RECOVERY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/control_groups/group_files.h"

namespace distbench {

// Undoes the journals in a state folder ("": StateFolder()'s choice) of which
// neither the node manager nor the guardian lives. Returns a sentence for
// each thing that deserves attention: what was restored, what others had changed
// meanwhile and was left, what could not be undone and remains for the next
// time. A node manager calls this when it starts, and logs the sentences. Does
// nothing if there is no state folder. `root` as in hierarchy.h.
std::vector<std::string> RecoverAbandoned(const std::string& root,
                                          const std::string& state_folder,
                                          GroupFiles& files);

}  // namespace distbench

#endif  // DISTBENCH_CONTROL_GROUPS_RECOVERY_H_
