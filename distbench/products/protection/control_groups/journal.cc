// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "distbench/base/files.h"
#include "distbench/base/hosts.h"
#include "distbench/products/protection/control_groups/group_files.h"

namespace distbench::protection {
namespace {

absl::Status JournalError(const std::string& path) {
  return absl::ErrnoToStatus(
      errno, absl::StrCat("cannot keep the journal of control groups ", path));
}

std::string FolderOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

bool Lock(const base::FileDescriptor& file, int operation) {
  return flock(file.get(), operation | LOCK_NB) == 0;
}

}  // namespace

JournalHolder ThisHolder(const std::string& root) {
  return {.boot_id = base::BootId(root), .pid = getpid(), .start = absl::Now()};
}

int Journal::SyncFile(int fd) { return fsync(fd); }

absl::StatusOr<std::unique_ptr<Journal>> Journal::Create(
    const std::string& state_folder, const JournalHolder& holder,
    SyncFunction sync) {
  std::string path =
      absl::StrCat(state_folder, "/", holder.pid, "-",
                   absl::ToUnixNanos(absl::Now()), kJournalSuffix);
  base::FileDescriptor file(open(
      path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  // A shared lock, because the guardian joins.
  if (!file.is_open() || !Lock(file, LOCK_SH)) return JournalError(path);
  std::unique_ptr<Journal> journal(
      new Journal(std::move(path), std::move(file), sync));
  absl::Status status = journal->WriteLine(FormatLine(holder));
  if (status.ok()) status = journal->SyncFolder();
  if (status.ok()) return journal;
  unlink(journal->path_.c_str());
  return status;
}

absl::StatusOr<std::unique_ptr<Journal>> Journal::Join(
    const std::string& path) {
  base::FileDescriptor file(open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!file.is_open() || !Lock(file, LOCK_SH)) return JournalError(path);
  return std::unique_ptr<Journal>(
      new Journal(path, std::move(file), &SyncFile));
}

std::unique_ptr<Journal> Journal::TakeAbandoned(const std::string& path) {
  base::FileDescriptor file(open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!file.is_open() || !Lock(file, LOCK_EX)) return nullptr;
  // Its holder may have removed it between the two.
  struct stat info;
  if (fstat(file.get(), &info) != 0 || info.st_nlink == 0) return nullptr;
  return std::unique_ptr<Journal>(
      new Journal(path, std::move(file), &SyncFile));
}

absl::Status Journal::Append(const JournalRecord& record) {
  return WriteLine(FormatLine(record));
}

absl::StatusOr<JournalContents> Journal::Read() const {
  // Not by its path, which may name a new file by now.
  const auto text = base::ReadFile(absl::StrCat("/proc/self/fd/", file_.get()));
  if (!text.ok()) return text.status();
  return ParseJournal(*text);
}

absl::Status Journal::Remove() {
  if (unlink(path_.c_str()) != 0 && errno != ENOENT) return JournalError(path_);
  return SyncFolder();
}

absl::Status Journal::WriteLine(const std::string& line) {
  const bool is_on_disk =
      base::WriteAll(file_.get(), line) && sync_(file_.get()) == 0;
  return is_on_disk ? absl::OkStatus() : JournalError(path_);
}

absl::Status Journal::SyncFolder() const {
  const std::string folder = FolderOf(path_);
  const base::FileDescriptor opened(
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open() && sync_(opened.get()) == 0) return absl::OkStatus();
  return JournalError(path_);
}

std::vector<std::string> ListJournals(const std::string& state_folder) {
  std::vector<std::string> paths;
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(
      opendir(state_folder.c_str()), closedir);
  if (opened == nullptr) return paths;
  while (const dirent* entry = readdir(opened.get())) {
    if (absl::EndsWith(entry->d_name, kJournalSuffix)) {
      paths.push_back(absl::StrCat(state_folder, "/", entry->d_name));
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

namespace {

constexpr absl::Duration kLockInterval = absl::Milliseconds(10);

}  // namespace

std::string StateFolder() {
  if (geteuid() == 0 && Exists("/run")) return "/run/distbench";
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (geteuid() != 0 && runtime != nullptr && Exists(runtime)) {
    return absl::StrCat(runtime, "/distbench");
  }
  return absl::StrCat("/tmp/distbench-", geteuid());
}

absl::Status MakeStateFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", folder));
  }
  struct stat info;
  if (lstat(folder.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", folder));
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(
        "cannot keep journals of control groups in ", folder,
        ": it is not a folder that only this user can write to; remove it, or "
        "change its owner and mode"));
  }
  return absl::OkStatus();
}

absl::StatusOr<base::FileDescriptor> LockStateFolder(const std::string& folder,
                                                     absl::Duration patience) {
  base::FileDescriptor opened(
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", folder));
  }
  const absl::Time deadline = absl::Now() + patience;
  while (flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", folder));
    }
    if (absl::Now() >= deadline) {
      return absl::UnavailableError(
          absl::StrCat("another process has had ", folder, " locked for ",
                       absl::FormatDuration(patience),
                       "; see who it is (fuser ", folder, "), and end it"));
    }
    absl::SleepFor(kLockInterval);
  }
  return opened;
}

// The text of journals.

namespace {

constexpr absl::string_view kFirstWord = "distbench-journal-1";

struct KindName {
  JournalRecord::Kind kind;
  absl::string_view name;
};

constexpr KindName kKindNames[] = {
    {JournalRecord::Kind::kLease, "lease"},
    {JournalRecord::Kind::kManager, "manager"},
    {JournalRecord::Kind::kControllers, "controllers"},
    {JournalRecord::Kind::kGroup, "group"},
    {JournalRecord::Kind::kValue, "value"},
};

absl::string_view NameOf(JournalRecord::Kind kind) {
  for (const KindName& each : kKindNames) {
    if (each.kind == kind) return each.name;
  }
  return "";
}

std::optional<JournalRecord::Kind> KindOf(absl::string_view name) {
  for (const KindName& each : kKindNames) {
    if (each.name == name) return each.kind;
  }
  return std::nullopt;
}

std::string Checksum(absl::string_view text) {
  const uint32_t crc =
      crc32(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  return absl::StrFormat("%08x", crc);
}

std::string Line(const std::vector<std::string>& fields) {
  std::vector<std::string> escaped;
  for (const std::string& field : fields) {
    escaped.push_back(absl::CEscape(field));
  }
  const std::string text = absl::StrJoin(escaped, "\t");
  return absl::StrCat(Checksum(text), "\t", text, "\n");
}

// Takes a whole line off the text, and returns its fields; nothing if it is
// damaged.
std::optional<std::vector<std::string>> TakeFields(absl::string_view& text) {
  const size_t end = text.find('\n');
  if (end == absl::string_view::npos) return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text.substr(0, end), absl::MaxSplits('\t', 1));
  if (parts.first != Checksum(parts.second)) return std::nullopt;
  text.remove_prefix(end + 1);
  std::vector<std::string> fields;
  for (absl::string_view escaped : absl::StrSplit(parts.second, '\t')) {
    std::string field;
    if (!absl::CUnescape(escaped, &field)) return std::nullopt;
    fields.push_back(std::move(field));
  }
  return fields;
}

std::optional<JournalHolder> TakeHolder(absl::string_view& text) {
  const auto fields = TakeFields(text);
  if (!fields.has_value() || fields->size() != 4 ||
      (*fields)[0] != kFirstWord) {
    return std::nullopt;
  }
  JournalHolder holder = {.boot_id = (*fields)[1]};
  int64_t start_s = 0;
  if (!absl::SimpleAtoi((*fields)[2], &holder.pid) ||
      !absl::SimpleAtoi((*fields)[3], &start_s)) {
    return std::nullopt;
  }
  holder.start = absl::FromUnixSeconds(start_s);
  return holder;
}

std::optional<JournalRecord> TakeRecord(absl::string_view& text) {
  auto fields = TakeFields(text);
  if (!fields.has_value() || fields->size() != 5) return std::nullopt;
  const auto kind = KindOf((*fields)[0]);
  if (!kind.has_value()) return std::nullopt;
  return JournalRecord{.kind = *kind,
                       .folder = std::move((*fields)[1]),
                       .file = std::move((*fields)[2]),
                       .value = std::move((*fields)[3]),
                       .before = std::move((*fields)[4])};
}

}  // namespace

JournalContents ParseJournal(absl::string_view text) {
  JournalContents contents;
  contents.holder = TakeHolder(text);
  if (!contents.holder.has_value()) return contents;
  while (auto record = TakeRecord(text)) {
    contents.records.push_back(*std::move(record));
  }
  return contents;
}

std::string FormatLine(const JournalHolder& holder) {
  return Line({std::string(kFirstWord), holder.boot_id,
               absl::StrCat(holder.pid),
               absl::StrCat(absl::ToUnixSeconds(holder.start))});
}

std::string FormatLine(const JournalRecord& record) {
  return Line({std::string(NameOf(record.kind)), record.folder, record.file,
               record.value, record.before});
}

std::string JournalHolder::ToString() const {
  return absl::StrCat(
      "process ", pid, " (since ",
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", start, absl::UTCTimeZone()),
      ")");
}

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
