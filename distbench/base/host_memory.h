// The memory of the host and of this process.

#ifndef DISTBENCH_BASE_HOST_MEMORY_H_
#define DISTBENCH_BASE_HOST_MEMORY_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench {

// Files are read below `root`; an empty `root` stands for the real file system.

// Returns a field of /proc/meminfo, such as "MemAvailable", in bytes; 0 if
// there is none.
int64_t ReadMemInfoBytes(const std::string& root, absl::string_view field);

// Returns the host's memory, or the limit of the process's control group
// (version 1 or 2) or of one above it, if that is lower. 0 if unknown.
int64_t AllowedMemoryBytes(const std::string& root);

// Returns how many processes the kernel has killed since boot because the host
// or a control group ran out of memory. 0 if the kernel does not count them.
int64_t ReadOomKills(const std::string& root);

}  // namespace distbench

#endif  // DISTBENCH_BASE_HOST_MEMORY_H_
