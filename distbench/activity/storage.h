#ifndef DISTBENCH_ACTIVITY_STORAGE_H_
#define DISTBENCH_ACTIVITY_STORAGE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/activity/access_pattern.h"
#include "distbench/activity/activity.h"

namespace distbench::activity {

struct StorageOptions {
  // Activities with the same name and data share their files.
  std::string name;
  std::string directory;

  // Files have whole pages (kFilePageBytes). The set has whole files, at least
  // one, and so has the memory, if it is used.
  int64_t file_set_bytes = 1;
  int64_t file_bytes = 1;
  int64_t memory_bytes = 0;
  int memory_percent = 0;        // of the hashed bytes
  int memory_write_percent = 0;  // of the pages of memory that are hashed

  int64_t hash_bytes = 1;  // per iteration, rounded up to whole pages
  AccessOptions access;
  bool is_direct = false;  // not the log

  int64_t log_bytes = 0;  // per iteration
  int64_t log_capacity_bytes = 1;

  int parallelism = 1;
  uint64_t seed = 0;
};

// The work of a storage service on a request: it reads files of a set, and as
// much anonymous memory, of which a part is hot, hashes what it read, and
// writes a log. If the files and the memory need more memory than there is, the
// cold parts come from the disk. The footprint is therefore file_set_bytes, and
// memory_bytes for each object. An iteration takes as long as its reads do,
// until EndSoon().
absl::StatusOr<std::unique_ptr<Activity>> MakeStorage(
    const StorageOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_STORAGE_H_
