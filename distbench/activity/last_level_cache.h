#ifndef DISTBENCH_ACTIVITY_LAST_LEVEL_CACHE_H_
#define DISTBENCH_ACTIVITY_LAST_LEVEL_CACHE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace distbench::activity {

// Returns the size of the host's last-level cache in bytes: of one of them, if
// CPUs have different ones, and of the largest. Reads /sys below `root` (empty:
// the real one). NOT_FOUND if the kernel does not say.
absl::StatusOr<int64_t> LastLevelCacheBytes(const std::string& root);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_LAST_LEVEL_CACHE_H_
