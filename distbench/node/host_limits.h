// The limits of a host, checked before it suffers: threads, and memory.

#ifndef DISTBENCH_NODE_HOST_LIMITS_H_
#define DISTBENCH_NODE_HOST_LIMITS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "distbench/base/thread_room.h"
#include "distbench/config/plan/plan.h"

namespace distbench::node {

// The threads that an instance needs according to its test. They are counted in
// advance, because a library that cannot start a thread aborts its process.
struct ThreadNeeds {
  int64_t workers = 0;
  int64_t activities = 0;  // compute-bound ones
  int64_t handlers = 0;    // initial size of a driver's pool

  int64_t total() const { return workers + activities + handlers; }
};
ThreadNeeds CountThreads(const config::Plan& plan, int instance,
                         int worker_count);

// The maximum number of other threads in an engine's process, for itself and
// for gRPC, unless a handler pool grows.
int64_t OtherThreadsOfEngine();

// RESOURCE_EXHAUSTED if there is too little room for an engine with these
// needs, or if the engine needs more than the max_threads of its process (0: no
// such limit). The message names the limit and suggests remedies.
absl::Status CheckThreads(const ThreadNeeds& needs,
                          const base::ThreadRoom& room, int64_t max_threads);

// The same for an engine that already has this many threads.
absl::Status CheckThreadsOfEngine(int64_t thread_count, int64_t max_threads);

// Limits the memory of a node's processes before its host suffers. Check()
// takes about 30 us; not thread-safe.
class MemoryLimit {
 public:
  // max_bytes: from a test's overload_limits; 0: nine tenths of
  // AllowedMemoryBytes(), and a twentieth of the host's memory must remain
  // available to others. Files are read below `root`; empty: the real ones.
  MemoryLimit(int64_t max_bytes, std::string root);

  // RESOURCE_EXHAUSTED if this process and its engine processes, which use
  // engine_bytes, use too much memory in total. The message says how much,
  // gives the limit and suggests remedies.
  absl::Status Check(int64_t engine_bytes) const;

 private:
  absl::Status CheckHost(int64_t bytes) const;

  const bool is_default_;
  const std::string root_;
  const int64_t max_bytes_;        // 0: not known
  const int64_t least_available_;  // of the host; 0: any
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_HOST_LIMITS_H_
