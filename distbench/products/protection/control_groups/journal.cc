#include "distbench/products/protection/control_groups/journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/base/write_all.h"

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
  return {.boot_id = base::FirstLine(root + "/proc/sys/kernel/random/boot_id"),
          .pid = getpid(),
          .start = absl::Now()};
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

}  // namespace distbench::protection
