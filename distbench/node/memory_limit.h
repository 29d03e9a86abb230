// How much memory a node's processes may use before its host suffers.

#ifndef DISTBENCH_NODE_MEMORY_LIMIT_H_
#define DISTBENCH_NODE_MEMORY_LIMIT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace distbench {

// Costs about 30 us; not thread-safe.
class MemoryLimit {
 public:
  // max_bytes: of a test's overload_limits; 0: nine tenths of
  // AllowedMemoryBytes(), and a twentieth of the host's memory stays available
  // to others. Files are read below `root`; empty: at their places.
  MemoryLimit(int64_t max_bytes, std::string root);

  // RESOURCE_EXHAUSTED if this process and its engine processes, which use so
  // much, have more together: says how much, how much may be, and what helps.
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
