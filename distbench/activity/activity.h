// Work that a service does besides RPCs.

#ifndef DISTBENCH_ACTIVITY_ACTIVITY_H_
#define DISTBENCH_ACTIVITY_ACTIVITY_H_

#include <cstdint>

namespace distbench {

// An activity as one thread does it: its memory is its own. Used by one thread
// at a time.
class Activity {
 public:
  virtual ~Activity() = default;

  // Does the work of one iteration. Blocks for as long as that takes.
  virtual void RunIteration() = 0;

  // Follows from all the work done so far: shows that it was done, and keeps
  // the compiler from leaving it out.
  virtual uint64_t checksum() const = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_ACTIVITY_H_
