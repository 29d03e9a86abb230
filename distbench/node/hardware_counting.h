// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Counts events in the host's CPUs, by perf_event_open(2).

#ifndef DISTBENCH_NODE_HARDWARE_COUNTING_H_
#define DISTBENCH_NODE_HARDWARE_COUNTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distbench/base/files.h"
#include "proto/results.pb.h"

namespace distbench::node {

// Counts in all online CPUs, whatever runs there, from construction on. Needs
// kernel.perf_event_paranoid at 0 or lower, or CAP_PERFMON. Uses a file
// descriptor for each CPU and event. Not thread-safe.
class HardwareCounting {
 public:
  HardwareCounting();

  // Why nothing is counted, and what to do about it; empty if at least one kind
  // of event is.
  const std::string& problem() const { return problem_; }

  // Totals of the kinds of events that are counted in every CPU.
  HardwareCounters Read() const;

 private:
  // The counters of a kind of event, one for each CPU.
  struct Event {
    void (HardwareCounters::*set)(int64_t);
    std::vector<base::FileDescriptor> cpus;
  };

  std::vector<Event> events_;
  std::string problem_;
};

// What a counter would have counted if it had run for all of the time for which
// it was enabled; times in nanoseconds. 0 if it never ran.
int64_t ScaledCount(int64_t count, int64_t enabled_ns, int64_t running_ns);

// Explains the error of perf_event_open().
std::string CountingProblem(int error);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_HARDWARE_COUNTING_H_
