// Limits the memory of a node's processes before its host suffers.

#ifndef DISTBENCH_NODE_MEMORY_LIMIT_H_
#define DISTBENCH_NODE_MEMORY_LIMIT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace distbench {

// Check() takes about 30 us; not thread-safe.
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

}  // namespace distbench

#endif  // DISTBENCH_NODE_MEMORY_LIMIT_H_
