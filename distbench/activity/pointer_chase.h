#ifndef DISTBENCH_ACTIVITY_POINTER_CHASE_H_
#define DISTBENCH_ACTIVITY_POINTER_CHASE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "distbench/activity/activity.h"

namespace distbench::activity {

struct PointerChaseOptions {
  int64_t bytes = 64;  // size of the memory; at least 64
  int64_t hops = 1;    // per iteration
  int parallelism = 1;
  uint64_t seed = 0;
};

// Each iteration follows pointers. Each pointer is on a different cache line,
// and is only known once the previous one has been read. The array is one cycle
// of all its lines.
std::unique_ptr<Activity> MakePointerChase(const PointerChaseOptions& options);

// A permutation of 0 to count - 1 that is a single cycle, drawn uniformly from
// all such permutations: Sattolo, "An algorithm to generate a random cyclic
// permutation", 1986. count must be at least 1.
std::vector<uint64_t> RandomCycle(int64_t count, uint64_t seed);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_POINTER_CHASE_H_
