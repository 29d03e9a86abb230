// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench::results {
namespace {

// The same for all symbolic links to a file, which are written through.
std::string LockPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return absl::StrCat(error ? path : real.string(), ".lock");
}

// Whether the descriptor is still the file of that name: its last owner may
// have removed it between open(2) and flock(2).
bool IsFileOf(int fd, const std::string& path) {
  struct stat opened;
  struct stat named;
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

absl::StatusOr<base::FileDescriptor> Lock(const std::string& path,
                                          const std::string& lock_path) {
  while (true) {
    base::FileDescriptor lock(
        open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!lock.is_open()) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat("cannot write ", path, ": its lock ", lock_path));
    }
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) {
        return absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", path));
      }
      return absl::FailedPreconditionError(
          absl::StrCat("another distbench works on ", path,
                       "; wait for its end, or use another file"));
    }
    if (IsFileOf(lock.get(), lock_path)) return lock;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::Take(
    const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_other(std::filesystem::status(path, ignored))) {
    return absl::WrapUnique(new FileLock("", base::FileDescriptor()));
  }
  std::string lock_path = LockPath(path);
  absl::StatusOr<base::FileDescriptor> lock = Lock(path, lock_path);
  if (!lock.ok()) return lock.status();
  return absl::WrapUnique(new FileLock(std::move(lock_path), *std::move(lock)));
}

// Removed while locked, so that nobody else can hold it.
FileLock::~FileLock() {
  if (!lock_path_.empty()) unlink(lock_path_.c_str());
}

}  // namespace distbench::results
