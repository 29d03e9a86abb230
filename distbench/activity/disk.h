#ifndef DISTBENCH_ACTIVITY_DISK_H_
#define DISTBENCH_ACTIVITY_DISK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "distbench/base/clock.h"

namespace distbench::activity {

struct DiskOptions {
  // Activities with the same name and data share their file.
  std::string name;
  std::string directory;
  int64_t data_bytes = 1;   // rounded down to whole blocks, at least one
  int64_t block_bytes = 1;  // whole pages (kFilePageBytes)
  bool is_sequential = false;
  int write_percent = 0;   // of the operations
  int64_t sync_every = 0;  // writes; 0: never
  int64_t operations = 1;  // per iteration
  bool is_direct = false;
  uint64_t seed = 0;

  // Limits the time of an iteration.
  const base::Clock* clock = &base::RealClock();
};

// Reads and writes blocks of a file, one after the other: a neighbour that
// competes for a disk. Sequential operations go on where the previous iteration
// ended, and begin again at the end of the data. An iteration begins no
// operation after kLongestIterationNs: which blocks it leaves out depends on
// the disk, but not what the next iteration does.
absl::StatusOr<std::unique_ptr<Activity>> MakeDisk(const DiskOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_DISK_H_
