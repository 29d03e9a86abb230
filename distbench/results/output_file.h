// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// An output file that appears only when it is complete.
//
//   auto file = OutputFile::Open(path);
//   (*file)->Write(text);
//   absl::Status status = (*file)->Commit();

#ifndef DISTBENCH_RESULTS_OUTPUT_FILE_H_
#define DISTBENCH_RESULTS_OUTPUT_FILE_H_

#include <unistd.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"

namespace distbench::results {

// Writes to a temporary file in the directory of the destination, and gives it
// the destination's name at Commit(). An existing file of that name is kept
// until then. Symbolic links are followed. After Commit(), both file and name
// are on disk, if the file system has one. What a killed process has left of a
// temporary file is removed by the next one that writes the same file.
//
// Only regular files can be replaced: pipes and devices are written directly,
// and "/dev/stdout" and "/dev/stderr" mean the process's own streams, at their
// current position.
class OutputFile {
 public:
  // Same as fsync(2): returns 0, or -1 and sets errno.
  using SyncFunction = int (*)(int fd);

  // The error names the path. `sync` is for tests.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(
      const std::string& path, SyncFunction sync = &fsync);

  // Removes the temporary file, unless it was committed.
  ~OutputFile();

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Adds to the file. Does nothing after an error, which Commit() returns.
  void Write(absl::string_view bytes);

  // The descriptor, for libraries that write themselves; owned by this object.
  int fd() const { return fd_.get(); }

  // Writes the file to disk and moves it into place; call this once. Without
  // effect after an error of Write(). The error names the path; if it is about
  // the directory, the file is in place but may not survive a crash of the
  // machine.
  absl::Status Commit();

 private:
  OutputFile(const std::string& path, SyncFunction sync)
      : path_(path), sync_(sync) {}

  absl::Status SyncDirectory() const;

  const std::string path_;  // as given by the user
  const SyncFunction sync_;
  absl::Status write_status_;
  base::FileDescriptor fd_;
  // Both are empty if fd_ is the destination itself.
  std::string temporary_path_;
  std::string target_path_;
};

// Writes a whole file, in this way.
absl::Status WriteFile(const std::string& path, absl::string_view text);

// The status for an error while writing to `path`.
absl::Status WriteError(const std::string& path, int error_number);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_OUTPUT_FILE_H_
