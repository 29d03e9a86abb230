#include "distbench/products/protection/control_groups/leases.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/base/files.h"

namespace distbench::protection {
namespace {

constexpr absl::Duration kLeaseInterval = absl::Milliseconds(10);

// The contents of a journal that somebody holds; empty for others.
JournalContents HeldContents(const std::string& path) {
  if (Journal::TakeAbandoned(path) != nullptr) return {};
  const auto text = base::ReadFile(path);
  return text.ok() ? ParseJournal(*text) : JournalContents();
}

std::string Describe(const JournalRecord& lease) {
  return lease.file.empty() ? absl::StrCat("the control group ", lease.folder)
                            : absl::StrCat(lease.file, " of ", lease.value);
}

absl::Status TryLeases(const std::string& state_folder,
                       absl::Span<const JournalRecord> leases) {
  for (const std::string& path : ListJournals(state_folder)) {
    const JournalContents held = HeldContents(path);
    for (const JournalRecord& lease : leases) {
      if (!held.holder.has_value() ||
          std::count(held.records.begin(), held.records.end(), lease) == 0) {
        continue;
      }
      return absl::FailedPreconditionError(absl::StrCat(
          Describe(lease), " is in use by ", held.holder->ToString(),
          "; wait for its test to end, or start each node manager in a group "
          "of its own"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

JournalRecord GroupLease(const std::string& folder) {
  return {.kind = JournalRecord::Kind::kLease, .folder = folder};
}

JournalRecord DeviceLease(const std::string& mount, absl::string_view device) {
  return {.kind = JournalRecord::Kind::kLease,
          .folder = mount,
          .file = "io.cost",
          .value = std::string(device)};
}

absl::Status CheckLeases(const std::string& state_folder,
                         absl::Span<const JournalRecord> leases,
                         absl::Duration patience) {
  const absl::Time deadline = absl::Now() + patience;
  for (;;) {
    absl::Status status = TryLeases(state_folder, leases);
    if (status.ok() || absl::Now() >= deadline) return status;
    absl::SleepFor(kLeaseInterval);
  }
}

}  // namespace distbench::protection
