// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where the memory of a process is: the kernel's counts, and what they say
// about a measurement.

#ifndef DISTBENCH_NUMA_MEMORY_WATCH_H_
#define DISTBENCH_NUMA_MEMORY_WATCH_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/index_list.h"
#include "proto/results.pb.h"

namespace distbench::numa {

// The functions below read under `root` (empty: the real file system). They
// return empty results if there is nothing to read.

// Bytes of the process's own memory (heap, stacks, anonymous mappings) by NUMA
// node, from /proc/PID/numa_maps (pid 0: this process). Mapped files are left
// out: their pages are shared, and are located where they were first read.
// Reading visits all pages of the process and blocks its memory mappings
// meanwhile, so use it before and after a measurement, not during one.
std::map<int, int64_t> ReadResidentBytesByNode(const std::string& root,
                                               pid_t pid);

// The host's counters since it started, by NUMA node, from .../nodeN/numastat.
std::map<int, NumaCounters> ReadNumaCounters(const std::string& root);

// The increase from `before` to `after`.
NumaCounters NumaCountersBetween(const NumaCounters& before,
                                 const NumaCounters& after);

// Records where the memory of a process is during a measurement. The kernel
// does not say which of several instances in a process a page belongs to, so
// the findings apply to all of them together. Not thread-safe.
class MemoryWatch {
 public:
  // pid 0: this process.
  explicit MemoryWatch(std::string root, pid_t pid = 0)
      : root_(std::move(root)), pid_(pid) {}

  // Call before the instances are created, so that existing memory is not
  // attributed to them.
  void NoteBaseline() { baseline_ = ReadResidentBytesByNode(root_, pid_); }

  // Counts all memory, for a process that was bound before it had any.
  void CountAll() { baseline_.clear(); }

  // Begin and end the measurement of the host's counters. Finish() also
  // determines the location of the pages.
  void Start() { counters_at_start_ = ReadNumaCounters(root_); }
  void Finish();

  // Fills in the resident bytes and the host's counters.
  void Report(BindingProof& proof) const;

  // Lists violations, one sentence each, if memory since the baseline is bound
  // to these nodes. Small amounts (1 % and 1 MiB) are ignored, because other
  // threads of the node manager have memory, too.
  std::vector<std::string> Violations(const base::IndexSet& nodes) const;

 private:
  const std::string root_;
  const pid_t pid_;
  std::map<int, int64_t> baseline_;
  std::map<int, int64_t> resident_;
  std::map<int, NumaCounters> counters_at_start_;
  std::map<int, NumaCounters> counters_;
};

}  // namespace distbench::numa

#endif  // DISTBENCH_NUMA_MEMORY_WATCH_H_
