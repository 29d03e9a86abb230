#include "distbench/results/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"

namespace distbench {
namespace {

constexpr mode_t kDefaultMode = 0666;  // reduced by the umask

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

}  // namespace

absl::Status WriteError(const std::string& path, int error_number) {
  return absl::ErrnoToStatus(error_number, absl::StrCat("cannot write ", path));
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Open(
    const std::string& path, SyncFunction sync) {
  std::string temporary_path;
  std::string target_path;
  int fd;
  struct stat existing;
  const bool exists = stat(path.c_str(), &existing) == 0;
  if (const int standard = StandardDescriptor(path); standard >= 0) {
    fd = fcntl(standard, F_DUPFD_CLOEXEC, 0);
  } else if (exists && !S_ISREG(existing.st_mode)) {
    fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else if (exists && access(path.c_str(), W_OK) != 0) {
    fd = -1;  // read-only, although its directory would allow replacing it
  } else {
    target_path = ResolvedPath(path);
    temporary_path = absl::StrCat(target_path, ".", getpid(), ".tmp");
    fd = open(temporary_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
              kDefaultMode);
  }
  if (fd < 0) {
    return WriteError(path, errno);
  }
  if (exists && !temporary_path.empty()) {
    // Keeps the existing file's mode. A file system without modes is fine, too.
    (void)!fchmod(fd, existing.st_mode & 07777);
  }
  return absl::WrapUnique(new OutputFile(path, fd, std::move(temporary_path),
                                         std::move(target_path), sync));
}

OutputFile::OutputFile(std::string path, int fd, std::string temporary_path,
                       std::string target_path, SyncFunction sync)
    : path_(std::move(path)),
      fd_(fd),
      temporary_path_(std::move(temporary_path)),
      target_path_(std::move(target_path)),
      sync_(sync) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) {
    close(fd_);
  }
  if (!temporary_path_.empty()) {
    unlink(temporary_path_.c_str());
  }
}

absl::Status OutputFile::Commit() {
  const bool replaces = !temporary_path_.empty();
  // Renamed first, it could be empty after a crash of the machine.
  if (replaces && sync_(fd_) != 0) {
    return WriteError(path_, errno);
  }
  // Network file systems report errors here.
  if (close(std::exchange(fd_, -1)) != 0) {
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
  const FileDescriptor fd(
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

}  // namespace distbench
