// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

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

std::string ExplainDescriptorError(int error) {
  const absl::string_view text = std::strerror(error);
  switch (error) {
    case EMFILE:
    case ENFILE:
      return absl::StrCat(text,
                          ": raise ulimit -n, or use fewer connections, "
                          "workers or instances");
    case ENOSPC:
      return absl::StrCat("no watches of epoll are left (", text,
                          "): raise fs.epoll.max_user_watches, or use fewer "
                          "connections");
    default:
      return std::string(text);
  }
}

absl::Status NoDescriptorError(absl::string_view what, int error) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot make ", what, ": ", ExplainDescriptorError(error)));
}

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

std::optional<int64_t> ReadNumber(const std::string& path) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(FirstLine(path), &number)) return std::nullopt;
  return number;
}

std::optional<int64_t> ReadNumberOf(const std::string& path,
                                    absl::string_view name) {
  std::ifstream file(path);
  std::string found;
  for (int64_t number = 0; file >> found >> number;) {
    if (found == name) return number;
  }
  return std::nullopt;
}

std::string ReadTextOf(const std::string& path, absl::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, name) && absl::ConsumePrefix(&rest, ":")) {
      return std::string(absl::StripAsciiWhitespace(rest));
    }
  }
  return "";
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The name, field 2, is in parentheses, and may contain spaces and parentheses.
std::vector<std::string> ReadStatFields(const std::string& folder) {
  const std::string line = FirstLine(folder + "/stat");
  const size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::vector<std::string> fields(3);
  for (const absl::string_view field :
       absl::StrSplit(absl::string_view(line).substr(end_of_name + 1), ' ',
                      absl::SkipEmpty())) {
    fields.emplace_back(field);
  }
  return fields;
}

bool WriteAll(int descriptor, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(count);
  }
  return true;
}

namespace {

// `move` is pread() or pwrite().
template <typename Move, typename Byte>
bool MoveAll(Move move, int file, int64_t offset, absl::Span<Byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = move(file, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(count);
    offset += count;
  }
  return true;
}

}  // namespace

bool WriteAllAt(int file, int64_t offset, absl::Span<const char> bytes) {
  return MoveAll(&pwrite, file, offset, bytes);
}

bool ReadAllAt(int file, int64_t offset, absl::Span<char> bytes) {
  return MoveAll(&pread, file, offset, bytes);
}

FileDescriptor CreateNameless(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) {
    return FileDescriptor(file);
  }
  // The file system needs a name to create a file. It exists for a moment.
  std::string path = absl::StrCat(folder, "/distbench.XXXXXX");
  FileDescriptor named(mkostemp(path.data(), O_CLOEXEC));
  if (named.is_open()) unlink(path.c_str());
  return named;
}

namespace {

// The kernel writes white space and backslashes as "\040".
std::string WithoutEscapes(absl::string_view field) {
  std::string text;
  return absl::CUnescape(field, &text) ? text : std::string(field);
}

}  // namespace

// A line has a part about the mount, with any number of fields at its end, and
// one about the file system.
std::vector<Mount> ParseMountInfo(absl::string_view text) {
  std::vector<Mount> mounts;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    if (parts.size() != 2) continue;
    const std::vector<absl::string_view> place = absl::StrSplit(parts[0], ' ');
    const std::vector<absl::string_view> system = absl::StrSplit(parts[1], ' ');
    if (place.size() < 5 || system.size() < 2) continue;
    mounts.push_back(
        {.root = WithoutEscapes(place[3]),
         .point = WithoutEscapes(place[4]),
         .type = std::string(system[0]),
         .source = WithoutEscapes(system[1]),
         .options = system.size() < 3 ? "" : std::string(system[2])});
  }
  return mounts;
}

}  // namespace distbench::base
