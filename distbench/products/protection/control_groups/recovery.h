// What dead processes left behind.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_RECOVERY_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_RECOVERY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "distbench/products/protection/control_groups/journal.h"

namespace distbench::protection {

// Undoes the journals in a state folder ("": StateFolder()'s choice) of which
// neither the node manager nor the guardian lives. Returns a sentence for
// each thing that deserves attention: what was restored, what others had
// changed meanwhile and was left, what could not be undone and remains for the
// next time. A node manager calls this when it starts, and logs the sentences.
// Does nothing if there is no state folder. `root` as in hierarchy.h.
std::vector<std::string> RecoverAbandoned(const std::string& root,
                                          const std::string& state_folder,
                                          GroupFiles& files);

// The same, for a caller that has locked the state folder.
std::vector<std::string> RecoverLocked(const std::string& root,
                                       const std::string& state_folder,
                                       GroupFiles& files);

struct UndoneJournal {
  // What was restored or left.
  std::vector<std::string> sentences;

  // What could not be undone.
  absl::Status status = absl::OkStatus();
};

// Undoes one journal, which the caller holds, and removes it if nothing remains
// to be undone.
UndoneJournal UndoJournal(Journal& journal, GroupFiles& files);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_RECOVERY_H_
