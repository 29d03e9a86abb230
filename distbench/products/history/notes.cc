// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/notes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "google/protobuf/util/json_util.h"

namespace distbench::history {
namespace {

struct PartsOfId {
  std::string folder;  // empty if there is only one
  std::string result;
};

PartsOfId SplitId(absl::string_view id) {
  const size_t point = id.find('.');
  if (point == absl::string_view::npos) return {"", std::string(id)};
  return {std::string(id.substr(0, point)), std::string(id.substr(point + 1))};
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

absl::Status NotesFile::Refresh() {
  const absl::MutexLock lock(&mutex_);
  struct stat attributes;
  if (lstat(path_.c_str(), &attributes) != 0 || !S_ISREG(attributes.st_mode) ||
      attributes.st_size == static_cast<int64_t>(read_.size())) {
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> text = base::ReadFile(path_);
  if (!text.ok()) return text.status();
  text->resize(text->rfind('\n') + 1);  // npos + 1 is 0
  // A file that was replaced is read anew.
  if (!absl::StartsWith(*text, read_)) {
    notes_.clear();
    read_.clear();
  }
  google::protobuf::util::JsonParseOptions reading;
  reading.ignore_unknown_fields = true;  // a later version's
  const absl::string_view added = absl::string_view(*text).substr(read_.size());
  for (const absl::string_view line : absl::StrSplit(added, '\n')) {
    ResultNote change;
    if (google::protobuf::util::JsonStringToMessage(
            google::protobuf::StringPiece(line.data(), line.size()), &change,
            reading)
            .ok()) {
      notes_[change.result()].MergeFrom(change);
    }
  }
  read_ = *std::move(text);
  return absl::OkStatus();
}

ResultNote NotesFile::Find(const std::string& result_id) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = notes_.find(result_id);
  return found == notes_.end() ? ResultNote() : found->second;
}

absl::Status NotesFile::Append(ResultNote change) {
  change.set_time(
      absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone()));
  const std::string line =
      base::DumpJson(base::MessageJson(change, base::JsonForm::kConfig));
  const base::FileDescriptor file(
      open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
           0666));
  if (!file.is_open() || flock(file.get(), LOCK_EX) != 0 ||
      !base::WriteAll(file.get(), absl::StrCat(IsTorn(file.get()) ? "\n" : "",
                                               line, "\n")) ||
      fsync(file.get()) != 0) {
    return NotStoredError(path_, errno);
  }
  return Refresh();
}

// ---- Of all folders ---------------------------------------------------------

ResultNotes::ResultNotes(const NotesPaths& paths) {
  for (const auto& [folder, path] : paths) files_.try_emplace(folder, path);
}

absl::Status ResultNotes::Refresh() {
  absl::Status status;
  for (auto& [folder, file] : files_) status.Update(file.Refresh());
  return status;
}

ResultNote ResultNotes::Find(const std::string& result_id) const {
  const PartsOfId parts = SplitId(result_id);
  const auto file = files_.find(parts.folder);
  return file == files_.end() ? ResultNote() : file->second.Find(parts.result);
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
  ResultNote change;
  change.set_note(text);
  return Append(result_id, std::move(change));
}

absl::Status ResultNotes::SetAccepted(const std::string& result_id,
                                      bool is_accepted) {
  ResultNote change;
  change.set_accepted(is_accepted);
  return Append(result_id, std::move(change));
}

absl::Status ResultNotes::Append(const std::string& result_id,
                                 ResultNote change) {
  const PartsOfId parts = SplitId(result_id);
  const auto file = files_.find(parts.folder);
  if (file == files_.end()) {
    return absl::NotFoundError(
        absl::StrCat("there is no folder with notes about ", result_id));
  }
  change.set_result(parts.result);
  return file->second.Append(std::move(change));
}

}  // namespace distbench::history
