// The interface to the disk on which runs are kept.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_DISK_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_DISK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/control.pb.h"

namespace distbench {

// A file with the records of a run (see ResultLog). Errors name the file.
class ResultFile {
 public:
  virtual ~ResultFile() = default;

  // Adds a record at the end. An error leaves the file as it was before.
  virtual absl::Status Append(const std::string& record) = 0;

  // Returns when all records are on the disk.
  virtual absl::Status Sync() = 0;

  // Reads the record at `offset`. DATA_LOSS if there is none, or it is damaged.
  virtual absl::StatusOr<std::string> Read(int64_t offset) = 0;
};

// Calls take as long as the disk does, perhaps forever. Therefore only the
// thread of RunStorage makes calls and destroys files.
class RunDisk {
 public:
  virtual ~RunDisk() = default;

  // Returns when the description is on the disk.
  virtual absl::Status Save(const RunDescription& description) = 0;

  // NOT_FOUND if there is no such run, or `id` is not a run id.
  virtual absl::StatusOr<RunDescription> Load(const std::string& id) = 0;

  // Oldest first. A description that cannot be read has state UNKNOWN, and its
  // message says why.
  virtual std::vector<RunDescription> List() = 0;

  // A new file, created when the first record is appended.
  virtual std::unique_ptr<ResultFile> NewResult(const std::string& id) = 0;

  // Opens the first `size` bytes of a file for reading.
  virtual absl::StatusOr<std::unique_ptr<ResultFile>> OpenResult(
      const std::string& id, int64_t size) = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_DISK_H_
