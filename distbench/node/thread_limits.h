// Whether a host lets an engine have the threads that its instance needs. A
// library that cannot start a thread aborts its process, so they are counted
// before.

#ifndef DISTBENCH_NODE_THREAD_LIMITS_H_
#define DISTBENCH_NODE_THREAD_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "distbench/base/thread_room.h"
#include "distbench/config/plan/plan.h"

namespace distbench {

// The threads that an instance needs, as far as its test says.
struct ThreadNeeds {
  int64_t workers = 0;
  int64_t activities = 0;  // that compute
  int64_t handlers = 0;    // of a driver's pool, to start with

  int64_t total() const { return workers + activities + handlers; }
};
ThreadNeeds CountThreads(const Plan& plan, int instance, int worker_count);

// The most threads that an engine's process has besides these, for itself and for
// gRPC, unless a handler pool grows.
int64_t OtherThreadsOfEngine();

// RESOURCE_EXHAUSTED if an engine with these needs has too little room, or needs
// more threads than max_threads allows its process (0: no such limit): says
// what limits it, and what helps.
absl::Status CheckThreads(const ThreadNeeds& needs, const ThreadRoom& room,
                          int64_t max_threads);

// The same, of a process that has so many threads.
absl::Status CheckThreadsOfEngine(int64_t thread_count, int64_t max_threads);

}  // namespace distbench

#endif  // DISTBENCH_NODE_THREAD_LIMITS_H_
