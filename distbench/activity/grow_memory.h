#ifndef DISTBENCH_ACTIVITY_GROW_MEMORY_H_
#define DISTBENCH_ACTIVITY_GROW_MEMORY_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"
#include "distbench/base/clock.h"

namespace distbench::activity {

struct GrowMemoryOptions {
  // Fresh memory of an iteration, rounded up to whole pages.
  int64_t bytes_per_iteration = 1;

  // Of all activities that share their memory; rounded down to whole pages, but
  // at least one.
  int64_t limit_bytes = 0;

  // At the limit: free everything and start again, or keep it.
  bool restarts = false;

  // What is touched again by each iteration, and how.
  int hot_percent = 100;
  bool reads = true;
  bool writes = true;

  bool is_compressible = false;
  bool prefers_huge_pages = false;
  uint64_t seed = 0;

  // Limits the time of an iteration.
  const base::Clock* clock = &base::RealClock();
};

// Each iteration allocates memory and fills it, then touches one word of each
// hot page. After half of kLongestIterationNs it stops allocating, and after
// all of it touching. The next iteration touches the pages that follow.
//
// If the system refuses memory, that is a failed operation and the iteration
// goes on without. If it then has nothing to do, it waits a moment, lest it
// become a load on the CPU.
std::unique_ptr<Activity> MakeGrowMemory(const GrowMemoryOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_GROW_MEMORY_H_
