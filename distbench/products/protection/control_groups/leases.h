// Exclusive use of control groups and devices among the node managers of a
// host. A lease is a record in a journal that somebody holds (journal.h).

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_LEASES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_LEASES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/products/protection/control_groups/journal.h"

namespace distbench::protection {

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

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_LEASES_H_
