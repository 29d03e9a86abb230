// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Files: descriptors, whole files, and those of /proc and /sys.

#ifndef DISTBENCH_BASE_FILES_H_
#define DISTBENCH_BASE_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::base {

// Owns a file descriptor, or none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, kNone)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    Close();
    fd_ = std::exchange(other.fd_, kNone);
    return *this;
  }
  ~FileDescriptor() { Close(); }

  bool is_open() const { return fd_ != kNone; }
  int get() const { return fd_; }
  void Close();

  // The caller owns the descriptor from now on.
  int Release() { return std::exchange(fd_, kNone); }

 private:
  static constexpr int kNone = -1;

  int fd_ = kNone;
};

// Explains errno's `error` of a call that makes a file descriptor or has epoll
// watch one, with a remedy if a limit of the system is the cause.
std::string ExplainDescriptorError(int error);

// Same, as RESOURCE_EXHAUSTED. `what` completes "cannot make".
absl::Status NoDescriptorError(absl::string_view what, int error);

// Far above the size of any file that is read as a whole; guards against files
// that never end.
inline constexpr int64_t kMaxFileBytes = int64_t{1} << 28;

// Returns the bytes of a file, pipe or device; "-" is standard input. The error
// names the path and says what is wrong with it.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t max_bytes = kMaxFileBytes);

// Returns the first line of a file, such as those of /sys, without surrounding
// white space; empty if there is none.
std::string FirstLine(const std::string& path);

// Returns the number in a file's first line; absent if there is none, as in
// "max".
std::optional<int64_t> ReadNumber(const std::string& path);

// Returns the number of the line "NAME NUMBER" of a file that has only such
// lines; absent if there is none.
std::optional<int64_t> ReadNumberOf(const std::string& path,
                                    absl::string_view name);

// Returns what the line "NAME: TEXT" of a file says, without surrounding white
// space; empty if there is none.
std::string ReadTextOf(const std::string& path, absl::string_view name);

// Returns the names in a folder, sorted; none if there is no such folder.
std::vector<std::string> NamesIn(const std::string& folder);

// Returns the /proc folder of a process; pid 0 stands for this one. An empty
// `root` stands for the real file system.
inline std::string ProcFolder(const std::string& root, pid_t pid) {
  return pid == 0 ? root + "/proc/self" : absl::StrCat(root, "/proc/", pid);
}

// Returns the fields of the file "stat" in the /proc folder of a process or
// thread, by their numbers in proc(5). Those before the state, field 3, are
// empty; none are returned if there is no such file.
std::vector<std::string> ReadStatFields(const std::string& folder);

// Writes all of the bytes to a file, pipe or device, in as many calls of
// write(2) as that takes. Returns false and sets errno at the first error; some
// of the bytes may have been written then.
bool WriteAll(int descriptor, absl::string_view bytes);

// Move all of the bytes to or from a place of a file, in as many calls of
// pwrite(2) or pread(2) as that takes. Return false at the first error, which
// sets errno, or if the file ends before.
bool WriteAllAt(int file, int64_t offset, absl::Span<const char> bytes);
bool ReadAllAt(int file, int64_t offset, absl::Span<char> bytes);

// Creates a file in the folder, without a name, so that it is gone when it is
// closed. Only its owner may open it. On error, no file is open, and errno is
// set.
FileDescriptor CreateNameless(const std::string& folder);

// A mount, as a line of /proc/PID/mountinfo describes it.
struct Mount {
  std::string root;     // what of its file system is mounted, such as "/"
  std::string point;    // where
  std::string type;     // "ext4"
  std::string source;   // "/dev/sda1"; depends on the type
  std::string options;  // of the file system: "rw,cpu"; may be empty
};

// The mounts in the order of the text; of several on one point, the last hides
// the others. Lines that are no mounts are left out.
std::vector<Mount> ParseMountInfo(absl::string_view text);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_FILES_H_
