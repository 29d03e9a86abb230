// The control group (version 2) of an engine's process, as far as the kernel
// may kill the process for its memory.

#ifndef DISTBENCH_HOSTING_MEMORY_GROUP_H_
#define DISTBENCH_HOSTING_MEMORY_GROUP_H_

#include <cstdint>
#include <string>

#include "distbench/base/files.h"

namespace distbench::hosting {

// Also usable after the group was removed; nothing is known from then on.
class MemoryGroup {
 public:
  // `folder`: a descriptor of the group's folder, needed during the call only;
  // negative for a process without a group of its own.
  static MemoryGroup Open(int folder);

  // How many processes of the group the kernel has killed because memory was
  // exhausted, that of the group or of one above it. 0 if unknown.
  int64_t OomKills() const;

  // The tightest limit of the group and of those above it, when it was opened:
  // "whose memory.max is 512MiB", or "which has no memory.max".
  const std::string& DescribeLimit() const { return limit_; }

 private:
  MemoryGroup(base::FileDescriptor events, std::string limit);

  base::FileDescriptor events_;  // memory.events; closed if there is none
  std::string limit_;
};

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_MEMORY_GROUP_H_
