// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Antagonists of caches and of the memory bus, and the size of the cache that
// they measure themselves by.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_MEMORY_TRAFFIC_H_
#define DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_MEMORY_TRAFFIC_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"

namespace distbench::protection {

// Returns the size of the host's last-level cache in bytes: of one of them, if
// CPUs have different ones, and of the largest. Reads /sys below `root` (empty:
// the real one). NOT_FOUND if the kernel does not say.
absl::StatusOr<int64_t> LastLevelCacheBytes(const std::string& root);

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
std::unique_ptr<activity::Activity> MakeMemoryBandwidth(
    const MemoryBandwidthOptions& options);

struct CacheThrashOptions {
  int64_t bytes = 64;        // of the working set; at least 64
  int64_t accesses = 1;      // per iteration
  int64_t stride_bytes = 0;  // rounded down to cache lines; 0: random order
  bool reads = true;
  bool writes = false;  // at least one of the two
  uint64_t seed = 0;
};

// Each iteration visits cache lines of the working set, in random order or at a
// constant distance from a random one on. The address of a line does not depend
// on what another contains, so many are fetched at the same time.
std::unique_ptr<activity::Activity> MakeCacheThrash(
    const CacheThrashOptions& options);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_MEMORY_TRAFFIC_H_
