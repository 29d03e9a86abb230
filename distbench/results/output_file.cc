// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <system_error>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace distbench::results {
namespace {

constexpr mode_t kDefaultMode = 0666;  // reduced by the umask
constexpr mode_t kPrivateMode = 0600;

// The descriptor of a special path; -1 for other paths. Opening such a path
// would start at its beginning, and overwrite what the process printed before.
int StandardDescriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  return -1;
}

// The path with symbolic links resolved; unchanged if there is no such file.
std::string ResolvedPath(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) == nullptr ? path : resolved;
}

// Temporary files are TARGET.NUMBER.tmp.
constexpr char kTemporarySuffix[] = ".tmp";

bool IsTemporaryOf(absl::string_view name, absl::string_view target_name) {
  return absl::ConsumePrefix(&name, target_name) &&
         absl::ConsumePrefix(&name, ".") &&
         absl::ConsumeSuffix(&name, kTemporarySuffix) && !name.empty() &&
         std::all_of(name.begin(), name.end(), absl::ascii_isdigit);
}

int LockFile(int fd, int operation) {
  int result = 0;
  do {
    result = flock(fd, operation);
  } while (result != 0 && errno == EINTR);
  return result;
}

// Removes a temporary file, unless a process holds it.
void RemoveIfAbandoned(const std::string& path) {
  const base::FileDescriptor fd(
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd.is_open() && LockFile(fd.get(), LOCK_EX | LOCK_NB) == 0) {
    unlink(path.c_str());
  }
}

// Removes the temporary files of processes that were killed.
void RemoveAbandoned(const std::string& target_path) {
  const std::filesystem::path target(target_path);
  const std::filesystem::path folder =
      target.has_parent_path() ? target.parent_path() : ".";
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (IsTemporaryOf(entry->path().filename().string(),
                      target.filename().string())) {
      RemoveIfAbandoned(entry->path().string());
    }
  }
}

bool IsStillFileOf(int fd, const std::string& path) {
  struct stat opened, named;
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// Creates and holds a temporary file, as long as the descriptor is open, and
// sets its path. What has its name already is another process's, or planted.
int OpenTemporary(const std::string& target_path, mode_t mode,
                  std::string& path) {
  std::random_device random;
  unsigned number = getpid();
  while (true) {
    path = absl::StrCat(target_path, ".", number, kTemporarySuffix);
    const int fd =
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && errno != EEXIST) return fd;
    // Where files cannot be locked, nobody takes it for abandoned either.
    if (fd >= 0 && (LockFile(fd, LOCK_SH) != 0 || IsStillFileOf(fd, path))) {
      return fd;
    }
    if (fd >= 0) close(fd);  // another process has just taken it for abandoned
    number = random();
  }
}

}  // namespace

absl::Status WriteError(const std::string& path, int error_number) {
  return absl::ErrnoToStatus(error_number, absl::StrCat("cannot write ", path));
}

absl::Status WriteFile(const std::string& path, absl::string_view text) {
  const absl::StatusOr<std::unique_ptr<OutputFile>> file =
      OutputFile::Open(path);
  if (!file.ok()) return file.status();
  (*file)->Write(text);
  return (*file)->Commit();
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Open(
    const std::string& path, SyncFunction sync) {
  auto file = absl::WrapUnique(new OutputFile(path, sync));
  struct stat existing;
  const bool exists = stat(path.c_str(), &existing) == 0;
  int fd;
  if (const int standard = StandardDescriptor(path); standard >= 0) {
    fd = fcntl(standard, F_DUPFD_CLOEXEC, 0);
  } else if (exists && !S_ISREG(existing.st_mode)) {
    fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else if (exists && access(path.c_str(), W_OK) != 0) {
    fd = -1;  // read-only, although its directory would allow replacing it
  } else {
    file->target_path_ = ResolvedPath(path);
    RemoveAbandoned(file->target_path_);
    std::string temporary_path;
    // Nobody else may read it before it has the existing file's mode.
    fd = OpenTemporary(file->target_path_, exists ? kPrivateMode : kDefaultMode,
                       temporary_path);
    if (fd >= 0) file->temporary_path_ = temporary_path;
  }
  if (fd < 0) return WriteError(path, errno);
  file->fd_ = base::FileDescriptor(fd);
  if (exists && !file->temporary_path_.empty()) {
    // Keeps the existing file's mode. A file system without modes is fine, too.
    (void)!fchmod(fd, existing.st_mode & 07777);
  }
  return file;
}

OutputFile::~OutputFile() {
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
}

void OutputFile::Write(absl::string_view bytes) {
  if (write_status_.ok() && !base::WriteAll(fd_.get(), bytes)) {
    write_status_ = WriteError(path_, errno);
  }
}

absl::Status OutputFile::Commit() {
  if (!write_status_.ok()) return write_status_;
  const bool replaces = !temporary_path_.empty();
  // Renamed first, it could be empty after a crash of the machine.
  if (replaces && sync_(fd_.get()) != 0) {
    return WriteError(path_, errno);
  }
  // Network file systems report errors here.
  if (close(fd_.Release()) != 0) {
    return WriteError(path_, errno);
  }
  if (replaces && rename(temporary_path_.c_str(), target_path_.c_str()) != 0) {
    return WriteError(path_, errno);
  }
  temporary_path_.clear();
  return replaces ? SyncDirectory() : absl::OkStatus();
}

// The name is stored in the directory, so it is not on disk with the file.
absl::Status OutputFile::SyncDirectory() const {
  const size_t slash = target_path_.rfind('/');
  const std::string directory =
      slash == std::string::npos ? "." : target_path_.substr(0, slash + 1);
  const base::FileDescriptor fd(
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: a file system that writes directories at once, or never.
  if (fd.is_open() && (sync_(fd.get()) == 0 || errno == EINVAL)) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(
      errno, absl::StrCat(path_,
                          " is written, but may be lost if this host crashes: "
                          "cannot write its directory"));
}

}  // namespace distbench::results
