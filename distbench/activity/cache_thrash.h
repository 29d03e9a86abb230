#ifndef DISTBENCH_ACTIVITY_CACHE_THRASH_H_
#define DISTBENCH_ACTIVITY_CACHE_THRASH_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench::activity {

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
std::unique_ptr<Activity> MakeCacheThrash(const CacheThrashOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_CACHE_THRASH_H_
