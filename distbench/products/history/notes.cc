// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/notes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/base/json.h"

namespace distbench::history {
namespace {

using Json = nlohmann::ordered_json;

std::string LineOf(const std::string& result_id, const char* field,
                   Json value) {
  Json line;
  line["result"] = result_id;
  line[field] = std::move(value);
  line["time"] =
      absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
  return line.dump() + "\n";
}

// Whether the file ends with a cut off line.
bool IsTorn(int fd) {
  struct stat attributes;
  char last = '\n';
  return fstat(fd, &attributes) == 0 && attributes.st_size > 0 &&
         pread(fd, &last, 1, attributes.st_size - 1) == 1 && last != '\n';
}

absl::string_view RemedyOf(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "make room on its file system, and save the note again";
    case EACCES:
    case EPERM:
    case EROFS:
      return "let the user of this process write in its folder";
    case ELOOP:
      return "remove the symbolic link in its place";
    default:
      return "see to its file system, and save the note again";
  }
}

absl::Status NotStoredError(const std::string& path, int error) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot write ", path, ": ", std::strerror(error),
                   "; the note is not kept: ", RemedyOf(error)));
}

}  // namespace

absl::Status ResultNotes::Refresh() {
  absl::MutexLock lock(&mutex_);
  return RefreshLocked();
}

absl::Status ResultNotes::RefreshLocked() {
  struct stat attributes;
  if (path_.empty() || lstat(path_.c_str(), &attributes) != 0 ||
      !S_ISREG(attributes.st_mode) || attributes.st_size == read_bytes_) {
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> text = base::ReadFile(path_);
  if (!text.ok()) return text.status();
  // A file that was replaced is read anew.
  if (static_cast<int64_t>(text->size()) < read_bytes_) {
    notes_.clear();
    read_bytes_ = 0;
  }
  for (size_t begin = read_bytes_; begin < text->size();) {
    const size_t end = text->find('\n', begin);
    if (end == std::string::npos) break;
    Take(absl::string_view(*text).substr(begin, end - begin));
    begin = end + 1;
    read_bytes_ = static_cast<int64_t>(begin);
  }
  return absl::OkStatus();
}

void ResultNotes::Take(absl::string_view line) {
  const Json json = Json::parse(line.begin(), line.end(), /*cb=*/nullptr,
                                /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("result") ||
      !json["result"].is_string()) {
    return;
  }
  ResultNote& note = notes_[json["result"].get<std::string>()];
  if (json.contains("note") && json["note"].is_string()) {
    note.text = json["note"].get<std::string>();
  }
  if (json.contains("accepted") && json["accepted"].is_boolean()) {
    note.is_accepted = json["accepted"].get<bool>();
  }
}

ResultNote ResultNotes::Find(const std::string& result_id) const {
  absl::MutexLock lock(&mutex_);
  const auto found = notes_.find(result_id);
  return found == notes_.end() ? ResultNote() : found->second;
}

absl::Status ResultNotes::SetText(const std::string& result_id,
                                  const std::string& text) {
  if (text.size() > kMaxNoteBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the note has ", text.size(), " bytes; it may have ", kMaxNoteBytes));
  }
  if (!base::IsUtf8(text)) {
    return absl::InvalidArgumentError("the note is not valid UTF-8");
  }
  absl::MutexLock lock(&mutex_);
  return Append(LineOf(result_id, "note", text));
}

absl::Status ResultNotes::SetAccepted(const std::string& result_id,
                                      bool is_accepted) {
  absl::MutexLock lock(&mutex_);
  return Append(LineOf(result_id, "accepted", is_accepted));
}

absl::Status ResultNotes::Append(absl::string_view line) {
  if (path_.empty()) {
    Take(line);
    return absl::OkStatus();
  }
  const auto error = [this] { return NotStoredError(path_, errno); };
  const base::FileDescriptor file(
      open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
           0666));
  if (!file.is_open() || flock(file.get(), LOCK_EX) != 0) return error();
  const std::string bytes = absl::StrCat(IsTorn(file.get()) ? "\n" : "", line);
  if (!base::WriteAll(file.get(), bytes) || fsync(file.get()) != 0)
    return error();
  return RefreshLocked();
}

}  // namespace distbench::history
