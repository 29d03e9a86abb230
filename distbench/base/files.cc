#include "distbench/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace distbench::base {
namespace {

// The advice for errors that users can cause.
const char* Remedy(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return "; check the path";
    case EACCES:
      return "; check who may read it";
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
                                           const std::string& name,
                                           int64_t max_bytes) {
  std::string contents;
  std::vector<char> block(1 << 16);
  for (;;) {
    const ssize_t count = read(descriptor, block.data(), block.size());
    if (count == 0) return contents;
    if (count < 0) {
      if (errno == EINTR) continue;
      return ReadError(errno, name);
    }
    if (contents.size() + count > max_bytes) {
      return absl::OutOfRangeError(absl::StrCat(
          "cannot read ", name, ": it is larger than ", max_bytes >> 20,
          " MiB, which no such file is; check the path"));
    }
    contents.append(block.data(), count);
  }
}

}  // namespace

void FileDescriptor::Close() {
  if (is_open()) close(std::exchange(fd_, kNone));
}

absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t max_bytes) {
  if (path == "-") {
    return ReadDescriptor(STDIN_FILENO, "standard input", max_bytes);
  }
  if (path.empty()) {
    return absl::InvalidArgumentError(
        "no file is named; give a path, or \"-\" for standard input");
  }
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return ReadError(errno, path);
  struct stat info;
  if (fstat(file.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot read ", path, ": it is a directory; name a file in it"));
  }
  return ReadDescriptor(file.get(), path, max_bytes);
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(absl::StripAsciiWhitespace(line));
}

}  // namespace distbench::base
