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

// The records of a run (see ResultLog) in a file. Errors name the file.
class ResultFile {
 public:
  virtual ~ResultFile() = default;

  // Adds a record at the end. After an error the file is as it was before.
  virtual absl::Status Append(const std::string& record) = 0;

  // Once it returns, all records are on the disk.
  virtual absl::Status Sync() = 0;

  // The record at `offset`. DATA_LOSS if there is none, or it is damaged.
  virtual absl::StatusOr<std::string> Read(int64_t offset) = 0;
};

// A call takes as long as the disk does, which may be for ever: only the thread
// of RunStorage makes calls, and destroys files.
class RunDisk {
 public:
  virtual ~RunDisk() = default;

  // Once it returns, the description is on the disk.
  virtual absl::Status Save(const RunDescription& description) = 0;

  // NOT_FOUND if there is no such run, or `id` is no id.
  virtual absl::StatusOr<RunDescription> Load(const std::string& id) = 0;

  // Oldest first. A description that can not be read has state UNKNOWN, and its
  // message says why.
  virtual std::vector<RunDescription> List() = 0;

  // An empty file, which the first record makes.
  virtual std::unique_ptr<ResultFile> NewResult(const std::string& id) = 0;

  // The first `size` bytes of a file, to read.
  virtual absl::StatusOr<std::unique_ptr<ResultFile>> OpenResult(
      const std::string& id, int64_t size) = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_DISK_H_
