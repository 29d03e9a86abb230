// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where threads run: the kernel's statistics, and what they say about a
// measurement.

#ifndef DISTBENCH_NUMA_THREAD_WATCH_H_
#define DISTBENCH_NUMA_THREAD_WATCH_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/index_list.h"
#include "proto/results.pb.h"

namespace distbench::numa {

// The functions below read /proc/PID/task below `root` (empty: the real one).
// pid 0 means this process.

// The ids of all threads.
std::set<int> ReadThreadIds(const std::string& root, pid_t pid);

// Usage since the start of the thread.
struct ThreadUsage {
  int64_t cpu_ns = 0;
  int last_cpu = 0;  // where it runs, or last ran
  base::IndexSet allowed_cpus;
  int64_t voluntary_context_switches = 0;
  int64_t involuntary_context_switches = 0;

  // Moves to another CPU; absent if the kernel does not count them.
  std::optional<int64_t> cpu_migrations;
};

// Absent if the thread does not exist, or no longer exists.
std::optional<ThreadUsage> ReadThreadUsage(const std::string& root, pid_t pid,
                                           int thread);

// Records where a group of threads runs during a measurement. Not thread-safe.
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
  std::vector<std::string> Violations(const base::IndexSet& cpus) const;

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
  std::map<int, base::IndexSet> allowed_;  // by thread: union over all samples
};

}  // namespace distbench::numa

#endif  // DISTBENCH_NUMA_THREAD_WATCH_H_
