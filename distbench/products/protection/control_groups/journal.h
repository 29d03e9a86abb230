// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A record on disk of everything that controls change, written before it is
// changed, so that any process can undo it.
//
// A journal is a file of lines: a CRC-32 in hexadecimal and the fields of a
// record, separated by tabs, with C escapes. A line that a crash has cut off is
// recognised, and its change has not been made.
//
// It is also the lease on what it lists: it is locked as long as the node
// manager or its guardian lives, and nobody else may change these things.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_JOURNAL_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_JOURNAL_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/base/files.h"

namespace distbench::protection {

inline constexpr char kJournalSuffix[] = ".journal";

// Who keeps a journal.
struct JournalHolder {
  std::string boot_id;  // groups and settings do not outlive a boot
  pid_t pid = 0;
  absl::Time start = absl::UnixEpoch();

  // "process 123 (since 2026-11-22 13:42:21 UTC)".
  std::string ToString() const;
};

// The holder of a journal that this process creates now.
JournalHolder ThisHolder(const std::string& root);

struct JournalRecord {
  enum class Kind {
    kLease,        // exclusive use of `folder`, or of its `file` and `value`
    kManager,      // the group `folder`, into which `before`'s processes moved
    kControllers,  // `value` ("cpu io"), now passed on by `folder`
    kGroup,        // the group `folder`
    kValue,        // `file` of `folder`: `value` instead of `before`
  };

  Kind kind = Kind::kValue;
  std::string folder = "";
  std::string file = "";
  std::string value = "";
  std::string before = "";

  friend bool operator==(const JournalRecord&, const JournalRecord&) = default;
};

// The contents of a journal, up to the first line that is damaged.
struct JournalContents {
  // Absent if even the first line is damaged; nothing was changed then.
  std::optional<JournalHolder> holder;
  std::vector<JournalRecord> records;
};

JournalContents ParseJournal(absl::string_view text);

// The lines, each with its end.
std::string FormatLine(const JournalHolder& holder);
std::string FormatLine(const JournalRecord& record);

// A journal that is open and locked. Not thread-safe.
class Journal {
 public:
  // Same as fsync(2); tests replace it.
  using SyncFunction = int (*)(int fd);

  // Creates a journal with a unique name in a state folder, which must be
  // locked by the caller.
  static absl::StatusOr<std::unique_ptr<Journal>> Create(
      const std::string& state_folder, const JournalHolder& holder,
      SyncFunction sync = &SyncFile);

  // Joins the lock of a journal that lives: for its guardian.
  static absl::StatusOr<std::unique_ptr<Journal>> Join(const std::string& path);

  // Opens an abandoned journal. Null if somebody holds it, or it is gone.
  static std::unique_ptr<Journal> TakeAbandoned(const std::string& path);

  // Returns when the record is on disk.
  absl::Status Append(const JournalRecord& record);

  // Reads it from the beginning.
  absl::StatusOr<JournalContents> Read() const;

  // Removes the file, because there is nothing left to undo.
  absl::Status Remove();

  const std::string& path() const { return path_; }

 private:
  Journal(std::string path, base::FileDescriptor file, SyncFunction sync)
      : path_(std::move(path)), file_(std::move(file)), sync_(sync) {}

  static int SyncFile(int fd);

  absl::Status WriteLine(const std::string& line);
  absl::Status SyncFolder() const;

  const std::string path_;
  const base::FileDescriptor file_;
  const SyncFunction sync_;
};

// Returns the paths of the journals in a state folder, sorted.
std::vector<std::string> ListJournals(const std::string& state_folder);

// The folder in which node managers keep their journals.

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

// Exclusive use of control groups and devices among the node managers of a
// host. A lease is a record in a journal that somebody holds (journal.h).

// The lease of a group's files.
JournalRecord GroupLease(const std::string& folder);

// The lease of io.cost of a device, by its numbers.
JournalRecord DeviceLease(const std::string& mount, absl::string_view device);

// FAILED_PRECONDITION if a process holds one of the leases for longer than
// `patience`; names what and who. A guardian that is at work gives them up
// soon. The caller has locked the state folder.
absl::Status CheckLeases(const std::string& state_folder,
                         absl::Span<const JournalRecord> leases,
                         absl::Duration patience);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_JOURNAL_H_
