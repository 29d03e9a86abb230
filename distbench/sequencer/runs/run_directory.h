// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The runs that a sequencer keeps on disk, and the files of those that it keeps
// only until it ends.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_DIRECTORY_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_DIRECTORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/files.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

// Stores the result of a run in a file.

// The file begins with a line that names its format. Each record is preceded by
// its length and its CRC-32, 4 bytes each, least significant byte first. If a
// file ends in the middle of a record, all records before that one are intact.

// A new file, created when the first record is appended; replaces what has that
// name.
std::unique_ptr<ResultFile> NewResultFile(std::string path);

// A new file without a name, created when the first record is appended, in the
// folder for temporary files: $TMPDIR, or else /tmp. It ends with the object.
std::unique_ptr<ResultFile> NewTemporaryResultFile();

// Whether such a file can be made. The error names the folder, and what to do.
absl::Status CheckTemporaryFolder();

// Opens the first `size` bytes of a file for reading.
absl::StatusOr<std::unique_ptr<ResultFile>> OpenResultFile(std::string path,
                                                           int64_t size);

// Tells versions of a file apart without reading them.
struct FileVersion {
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t modified_ns = 0;

  bool operator==(const FileVersion&) const = default;
};

// Each run has two files: ID.run is its RunDescription as text, and ID.result
// is its ResultFile. There are no other files of a run, so it can be removed by
// removing both. Descriptions are replaced atomically. Only one process at a
// time can use a directory. List() reads only descriptions that are new, were
// changed since the last time, could not be read then, or are too many to keep.
class RunDirectory final : public RunDisk {
 public:
  // Makes the directory if it is missing, and removes incomplete files that a
  // killed process left behind. The error names the directory: another process
  // uses it, or files cannot be made or listed there.
  // `kept_bytes` is the memory for descriptions that List() has read.
  static absl::StatusOr<std::unique_ptr<RunDirectory>> Open(
      std::string path, int64_t kept_bytes = 32 << 20);

  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  bool survives() const override { return true; }
  absl::Status Save(const RunDescription& description) override;
  absl::StatusOr<RunDescription> Load(const std::string& id) override;
  absl::StatusOr<std::vector<RunDescription>> List() override;
  std::unique_ptr<ResultFile> NewResult(const std::string& id) override;
  absl::StatusOr<std::unique_ptr<ResultFile>> OpenResult(const std::string& id,
                                                         int64_t size) override;

 private:
  RunDirectory(std::string path, int64_t kept_bytes, base::FileDescriptor lock)
      : path_(std::move(path)),
        kept_bytes_(kept_bytes),
        lock_(std::move(lock)) {}

  // A description as it was read, and what its file then was.
  struct ReadRun {
    FileVersion version;
    RunDescription run;
  };

  // What the last List() read, if the file is still the same; or else null.
  const RunDescription* Known(const std::string& id,
                              const FileVersion& version) const;
  absl::Status RemoveTemporaryFiles() const;
  std::string DescriptionPath(const std::string& id) const;
  std::string ResultPath(const std::string& id) const;

  const std::string path_;
  const int64_t kept_bytes_;
  const base::FileDescriptor lock_;        // held while the directory is open
  std::map<std::string, ReadRun> listed_;  // by id
};

// A disk for runs that end with the process: descriptions are not stored, and
// results are temporary files.
std::unique_ptr<RunDisk> TemporaryRuns();

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_DIRECTORY_H_
