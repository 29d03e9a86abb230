// What subject and antagonist used of their hosts, second by second, where they
// ran in control groups.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_USAGE_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_USAGE_H_

#include <cstdint>
#include <map>
#include <optional>

#include "proto/results.pb.h"

namespace distbench::protection {

// Shares of the time in which some thread waited for a resource (pressure stall
// information); the highest of all groups or hosts.
struct Pressure {
  std::optional<double> cpu;
  std::optional<double> memory;
  std::optional<double> io;
};

// The sum over the groups of all instances.
struct WorkerUsage {
  std::optional<double> cpus;  // CPU seconds per second
  std::optional<double> memory_bytes;
  std::optional<double> swap_bytes;
  Pressure pressure;
};

struct SecondUsage {
  WorkerUsage subject;
  WorkerUsage antagonist;

  // Of the hosts of all nodes, also without control groups.
  Pressure host_pressure;
};

// Keyed by the number of the interval in which the middle of a sample is. Of
// several samples of a node, shares and CPUs are the mean, and memory is the
// last. Where an interval has no sample, as in runs of more than an hour, it is
// absent.
// Requires interval_ns > 0.
std::map<int64_t, SecondUsage> UsageBySecond(const TestResult& result,
                                             int64_t interval_ns);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_USAGE_H_
