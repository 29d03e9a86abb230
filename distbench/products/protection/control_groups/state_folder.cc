#include "distbench/products/protection/control_groups/state_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/products/protection/control_groups/group_files.h"

namespace distbench::protection {
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

}  // namespace distbench::protection
