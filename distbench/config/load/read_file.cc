#include "distbench/config/load/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench {
namespace {

// Remedies for the errors that users can cause.
const char* Remedy(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return "; check the path";
    case EACCES:
      return "; check its permissions";
    default:
      return "";
  }
}

absl::Status ReadError(int error_number, const std::string& name) {
  const absl::Status status =
      absl::ErrnoToStatus(error_number, absl::StrCat("cannot read ", name));
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), Remedy(error_number)));
}

absl::StatusOr<std::string> ReadDescriptor(int descriptor,
                                           const std::string& name) {
  std::string contents;
  std::vector<char> block(1 << 16);
  for (;;) {
    const ssize_t count = read(descriptor, block.data(), block.size());
    if (count == 0) return contents;
    if (count < 0) {
      if (errno == EINTR) continue;
      return ReadError(errno, name);
    }
    if (contents.size() + count > kMaxFileBytes) {
      return absl::OutOfRangeError(absl::StrCat(
          "cannot read ", name, ": it is larger than ", kMaxFileBytes >> 20,
          " MiB, the limit for configs; check the path"));
    }
    contents.append(block.data(), count);
  }
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  if (path == "-") return ReadDescriptor(STDIN_FILENO, "standard input");
  if (path.empty()) {
    return absl::InvalidArgumentError(
        "no file was given; give a path, or \"-\" for standard input");
  }
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ReadError(errno, path);
  const absl::Cleanup closer = [descriptor] { close(descriptor); };
  struct stat info;
  if (fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot read ", path, ": it is a directory; name a file in it"));
  }
  return ReadDescriptor(descriptor, path);
}

}  // namespace distbench
