// Checks whether a host lets an engine have the threads that its instance
// needs. They are counted in advance, because a library that cannot start a
// thread aborts its process.

#ifndef DISTBENCH_NODE_THREAD_LIMITS_H_
#define DISTBENCH_NODE_THREAD_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "distbench/base/thread_room.h"
#include "distbench/config/plan/plan.h"

namespace distbench {

// The threads that an instance needs according to its test.
struct ThreadNeeds {
  int64_t workers = 0;
  int64_t activities = 0;  // compute-bound ones
  int64_t handlers = 0;    // initial size of a driver's pool

  int64_t total() const { return workers + activities + handlers; }
};
ThreadNeeds CountThreads(const Plan& plan, int instance, int worker_count);

// The maximum number of other threads in an engine's process, for itself and
// for gRPC, unless a handler pool grows.
int64_t OtherThreadsOfEngine();

// RESOURCE_EXHAUSTED if there is too little room for an engine with these
// needs, or if the engine needs more than the max_threads of its process (0: no
// such limit). The message names the limit and suggests remedies.
absl::Status CheckThreads(const ThreadNeeds& needs, const ThreadRoom& room,
                          int64_t max_threads);

// The same for an engine that already has this many threads.
absl::Status CheckThreadsOfEngine(int64_t thread_count, int64_t max_threads);

}  // namespace distbench

#endif  // DISTBENCH_NODE_THREAD_LIMITS_H_
