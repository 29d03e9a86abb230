// How much memory there is.

#ifndef DISTBENCH_BASE_HOST_MEMORY_H_
#define DISTBENCH_BASE_HOST_MEMORY_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench {

// Files are read below `root`; empty: at their places.

// A field of /proc/meminfo, such as "MemAvailable"; 0 if there is none.
int64_t ReadMemInfoBytes(const std::string& root, absl::string_view field);

// What the host has, or what the process's control group (version 1 or 2) or
// one above it allows, if that is less. 0: not known.
int64_t AllowedMemoryBytes(const std::string& root);

// How many processes the kernel has killed since it started because memory ran
// out, that of the host or of a control group. 0 if it does not count them.
int64_t ReadOomKills(const std::string& root);

}  // namespace distbench

#endif  // DISTBENCH_BASE_HOST_MEMORY_H_
