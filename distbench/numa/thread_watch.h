// Where a group of threads runs, over a time.

#ifndef DISTBENCH_NUMA_THREAD_WATCH_H_
#define DISTBENCH_NUMA_THREAD_WATCH_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/index_list.h"
#include "distbench/numa/thread_usage.h"
#include "proto/results.pb.h"

namespace distbench {

// Not thread-safe.
class ThreadWatch {
 public:
  // Of threads of a process (pid 0: this one), as /proc below `root` tells.
  explicit ThreadWatch(std::string root, pid_t pid = 0)
      : root_(std::move(root)), pid_(pid) {}

  // Before Start(); or all that the process has.
  void AddThreads(const std::set<int>& ids);
  int thread_count() const { return static_cast<int>(ids_.size()); }

  // Begins the time, and forgets what was before.
  void Start();

  // The CPU time of a thread since the last sample is taken for that of the CPU
  // on which it is found now: call this often, such as once a second, and at
  // the end. Costs some 50 us for each thread.
  void Sample();

  // Fills in CPU times, context switches and migrations.
  void Report(BindingProof& proof) const;

  // What samples found that is not as it should be if the threads are bound to
  // these CPUs; a sentence each.
  std::vector<std::string> Violations(const IndexSet& cpus) const;

 private:
  struct Watched {
    ThreadUsage start;
    ThreadUsage last;
  };

  const std::string root_;
  const pid_t pid_;
  std::set<int> ids_;
  std::map<int, Watched> threads_;
  std::map<int, int64_t> cpu_ns_by_cpu_;
  std::map<int, IndexSet> allowed_;  // by thread: all that samples found
};

}  // namespace distbench

#endif  // DISTBENCH_NUMA_THREAD_WATCH_H_
