// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The memory of the host, and of this process.

#ifndef DISTBENCH_BASE_MEMORY_H_
#define DISTBENCH_BASE_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::base {

// Called so because a message of configs has the name ControlGroup.
struct ControlGroupFolder {
  std::string folder;
  int version = 2;  // of the kernel interface; file names depend on it
};

// Returns the control groups of this process, of either version, that a
// controller ("memory", "pids") may limit: its own and those above it. Groups
// that are not visible, as from inside a container, are included; their files
// are missing. Files are read below `root`; an empty `root` stands for the real
// file system.
std::vector<ControlGroupFolder> ControlGroupsOf(absl::string_view controller,
                                                const std::string& root);

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

// Returns freed memory of this process to the kernel. By default the allocator
// keeps most of it, in as many pools as there were busy threads, and reuses it
// wherever it lies: the size of the process would say little about what it
// holds, and pages that a NUMA-bound test put on one node would serve the next
// test on another. Takes milliseconds, or more after large tests, so call it
// between tests. Thread-safe: does nothing while another thread is doing it.
void ReturnFreedMemory();

// Makes this process keep the memory that it frees from now on. By default the
// allocator returns the memory of large messages to the kernel after each RPC,
// and has it mapped and cleared again for the next.
void KeepFreedMemory();

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_MEMORY_H_
