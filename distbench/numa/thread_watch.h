// Records where a group of threads runs during a measurement.

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
  // Watches threads of a process (pid 0: this process), using /proc below
  // `root`.
  explicit ThreadWatch(std::string root, pid_t pid = 0)
      : root_(std::move(root)), pid_(pid) {}

  // Call before Start(). Without it, all threads of the process are watched.
  void AddThreads(const std::set<int>& ids);
  int thread_count() const { return static_cast<int>(ids_.size()); }

  // Begins the measurement, and discards earlier samples.
  void Start();

  // Attributes each thread's CPU time since the last sample to the CPU on which
  // the thread is now. Call it often, such as once a second, and at the end.
  // Takes about 50 us per thread.
  void Sample();

  // Fills in CPU times, context switches and migrations.
  void Report(BindingProof& proof) const;

  // Lists violations that samples found, one sentence each, if the threads are
  // bound to these CPUs.
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
  std::map<int, IndexSet> allowed_;  // by thread: union over all samples
};

}  // namespace distbench

#endif  // DISTBENCH_NUMA_THREAD_WATCH_H_
