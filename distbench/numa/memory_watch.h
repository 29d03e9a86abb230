// Where the memory of a process is, over a time.

#ifndef DISTBENCH_NUMA_MEMORY_WATCH_H_
#define DISTBENCH_NUMA_MEMORY_WATCH_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/index_list.h"
#include "distbench/numa/process_memory.h"
#include "proto/results.pb.h"

namespace distbench {

// The kernel does not tell which of several instances in a process a page
// belongs to: what is said here is true of all of them together. Not
// thread-safe.
class MemoryWatch {
 public:
  // pid 0: this process.
  explicit MemoryWatch(std::string root, pid_t pid = 0)
      : root_(std::move(root)), pid_(pid) {}

  // Before the instances are made: what there is already is not theirs.
  void NoteBaseline() { baseline_ = ReadResidentBytesByNode(root_, pid_); }

  // The process was bound before it had memory: all of it counts.
  void CountAll() { baseline_.clear(); }

  // Begins and ends the time of the host's counters; the end also looks where
  // the pages are.
  void Start() { counters_at_start_ = ReadNumaCounters(root_); }
  void Finish();

  // Fills in the resident bytes and the host's counters.
  void Report(BindingProof& proof) const;

  // What is not as it should be if memory since the baseline is bound to these
  // nodes; a sentence each. Small things (1 % and 1 MiB) are no violation: the
  // node manager's other threads have memory, too.
  std::vector<std::string> Violations(const IndexSet& nodes) const;

 private:
  const std::string root_;
  const pid_t pid_;
  std::map<int, int64_t> baseline_;
  std::map<int, int64_t> resident_;
  std::map<int, NumaCounters> counters_at_start_;
  std::map<int, NumaCounters> counters_;
};

}  // namespace distbench

#endif  // DISTBENCH_NUMA_MEMORY_WATCH_H_
