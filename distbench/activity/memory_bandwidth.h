#ifndef DISTBENCH_ACTIVITY_MEMORY_BANDWIDTH_H_
#define DISTBENCH_ACTIVITY_MEMORY_BANDWIDTH_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench::activity {

// Of arrays a, b and c.
enum class StreamKind {
  kCopy,   // b = a
  kRead,   // sums up a
  kWrite,  // a = a constant
  kTriad,  // c = a + s * b
};

struct MemoryBandwidthOptions {
  StreamKind kind = StreamKind::kCopy;

  // Read and written by an iteration, together. At least 24.
  int64_t bytes_per_iteration = 24;

  // Of all arrays; raised to bytes_per_iteration if that is more.
  int64_t bytes = 0;
  uint64_t seed = 0;
};

// Each iteration streams through the part of the arrays that follows the
// previous iteration's. Bytes that caches read in order to write are not
// counted.
std::unique_ptr<Activity> MakeMemoryBandwidth(
    const MemoryBandwidthOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_MEMORY_BANDWIDTH_H_
