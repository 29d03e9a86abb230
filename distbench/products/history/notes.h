// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What people say about results. An index can be made anew at any time, but
// these cannot: they have a file of their own, beside the results.

#ifndef DISTBENCH_PRODUCTS_HISTORY_NOTES_H_
#define DISTBENCH_PRODUCTS_HISTORY_NOTES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/products/history/history.pb.h"

namespace distbench::history {

// The notes file of a folder of results.
inline constexpr char kNotesFile[] = "distbench_notes.jsonl";

// Paths of the notes files of folders, by what the ids of the folder's results
// have before a '.': see ResultSource::IdOf(). Empty: nothing.
using NotesPaths = std::map<std::string, std::string>;

// The longest note, in bytes.
inline constexpr int64_t kMaxNoteBytes = 4096;

// A file to which each change adds a line of JSON, so that several processes
// can write it and a lost line costs one change:
//
//   {"result":"0123456789abcdef-0","note":"new switch","time":"2026-01-31T..."}
//   {"result":"0123456789abcdef-0","accepted":true,"time":"2026-01-31T..."}
//
// Of a result, the last note and the last acceptance count. Lines that are no
// such object, such as one that a crash cut off, are skipped. Nothing but a
// file is read or written: where a symbolic link is in its place, changes fail.
// Ids are those within the folder. Thread-safe.
class NotesFile {
 public:
  explicit NotesFile(std::string path) : path_(std::move(path)) {}

  NotesFile(const NotesFile&) = delete;
  NotesFile& operator=(const NotesFile&) = delete;

  // Reads what is new in the file if its size has changed; all of it if it does
  // not begin as it did. It is no error if there is none.
  absl::Status Refresh() ABSL_LOCKS_EXCLUDED(mutex_);

  // Neither text nor acceptance if nothing was said.
  ResultNote Find(const std::string& result_id) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Adds a change, and returns when it is on the disk. RESOURCE_EXHAUSTED if it
  // could not be stored; the error names the file and the remedy.
  absl::Status Append(ResultNote change) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const std::string path_;
  mutable absl::Mutex mutex_;
  std::map<std::string, ResultNote> notes_ ABSL_GUARDED_BY(mutex_);
  std::string read_ ABSL_GUARDED_BY(mutex_);  // whole lines of the file
};

// The notes of all folders. One that is shown with others keeps its notes as if
// it were alone, so that they are found either way. Thread-safe.
class ResultNotes {
 public:
  // Without paths there are no notes.
  explicit ResultNotes(const NotesPaths& paths);

  ResultNotes(const ResultNotes&) = delete;
  ResultNotes& operator=(const ResultNotes&) = delete;

  // As in NotesFile.
  absl::Status Refresh();
  ResultNote Find(const std::string& result_id) const;

  // As NotesFile::Append(). An empty text removes the note. INVALID_ARGUMENT if
  // the text is too long or not UTF-8. NOT_FOUND if the id is of no folder.
  absl::Status SetText(const std::string& result_id, const std::string& text);
  absl::Status SetAccepted(const std::string& result_id, bool is_accepted);

 private:
  absl::Status Append(const std::string& result_id, ResultNote change);

  std::map<std::string, NotesFile> files_;  // by folder; none comes or goes
};

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_NOTES_H_
