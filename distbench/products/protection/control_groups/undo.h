// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The way back: undoes what a journal says. The node manager does this at the
// end of a test, its guardian after its death, and the next node manager after
// the death of both.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_UNDO_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_UNDO_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "distbench/products/protection/control_groups/journal.h"

namespace distbench::protection {

// How a file was left that is not in a group of ours.
struct UndoneValue {
  std::string folder;
  std::string file;
  std::string value;  // that was undone

  // As in ControlProof: "restored", "removed" with its group, or "left".
  std::string after;
};

struct UndoReport {
  std::vector<UndoneValue> values;

  // Values that others had changed meanwhile, and that were left; a sentence
  // each.
  std::vector<std::string> left;

  // What could not be undone and remains to be; a sentence each.
  std::vector<std::string> problems;
};

// Undoes the records, the last first: restores values, unless others have
// changed them meanwhile; kills what is in the groups that were made, and
// removes these; moves processes back. Undoes as much as possible. May be
// repeated, also after a part of it. Processes may take `patience` to die, all
// of them together.
UndoReport Undo(absl::Span<const JournalRecord> records, GroupFiles& files,
                absl::Duration patience);

// How long processes that were killed may take to be gone.
inline constexpr absl::Duration kUndoPatience = absl::Seconds(5);

// What dead processes left behind.

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

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_UNDO_H_
