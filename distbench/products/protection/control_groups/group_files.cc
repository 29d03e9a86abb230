// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/group_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"

namespace distbench::protection {
namespace {

// What the number of an error means for files of control groups.
const char* Explanation(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "; this kernel does not have it, or its controller is not passed "
             "on to this group";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; it needs the rights of root, or a group that is delegated to "
             "this user";
    case EINVAL:
    case ERANGE:
    case EOPNOTSUPP:
      return "; this kernel does not accept the value for this group or device";
    case EBUSY:
      return "; a group cannot both contain processes and pass on controllers, "
             "nor lose a controller that groups below it use";
    case ENODEV:
    case ENXIO:
      return "; there is no such device, or the group is gone";
    default:
      return "";
  }
}

absl::Status FileError(int error_number, absl::string_view what,
                       const std::string& path) {
  const absl::Status status =
      absl::ErrnoToStatus(error_number, absl::StrCat("cannot ", what, path));
  return absl::Status(
      status.code(), absl::StrCat(status.message(), Explanation(error_number)));
}

bool HasValue1(const std::string& folder, const char* attribute) {
  char value = 0;
  return getxattr(folder.c_str(), attribute, &value, 1) == 1 && value == '1';
}

}  // namespace

absl::StatusOr<std::string> KernelGroupFiles::Read(
    const std::string& file) const {
  auto text = base::ReadFile(file);
  if (!absl::IsNotFound(text.status())) return text;
  return FileError(ENOENT, "read ", file);
}

absl::Status KernelGroupFiles::Write(const std::string& file,
                                     absl::string_view value) {
  const std::string what = absl::StrCat("write \"", value, "\" to ");
  const base::FileDescriptor opened(
      open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!opened.is_open()) return FileError(errno, what, file);
  // An empty value is a line, too: the kernel would not see a write of nothing.
  const std::string line = absl::StrCat(value, "\n");
  ssize_t count = 0;
  do {
    count = write(opened.get(), line.data(), line.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) return FileError(errno, what, file);
  return absl::OkStatus();
}

absl::Status KernelGroupFiles::MakeGroup(const std::string& folder) {
  if (mkdir(folder.c_str(), 0755) == 0) return absl::OkStatus();
  return FileError(errno, "make the control group ", folder);
}

absl::Status KernelGroupFiles::RemoveGroup(const std::string& folder) {
  if (rmdir(folder.c_str()) == 0) return absl::OkStatus();
  return FileError(errno, "remove the control group ", folder);
}

absl::StatusOr<std::vector<std::string>> KernelGroupFiles::Children(
    const std::string& folder) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(opendir(folder.c_str()),
                                                   closedir);
  if (opened == nullptr) return FileError(errno, "list ", folder);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(opened.get())) {
    const std::string name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool KernelGroupFiles::IsMarkedDelegated(const std::string& folder) const {
  // The system's manager sets both, a user's manager the second.
  return HasValue1(folder, "trusted.delegate") ||
         HasValue1(folder, "user.delegate");
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace distbench::protection
