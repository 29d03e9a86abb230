// The subject of jobs that are given no config: a storage service, and for
// experiments a neighbour that takes its memory.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_STORAGE_SUBJECT_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_STORAGE_SUBJECT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "proto/traffic_config.pb.h"

namespace distbench::bench {

// The single test of the properties "infile" or "pattern"; without both, that
// of the pattern storage_service. INVALID_ARGUMENT if both are given, or if
// there is not exactly one test.
absl::StatusOr<DistributedSystemDescription> SubjectOf(
    const PropertyValues& values, const JobEnvironment& environment);

struct MemoryHogOptions {
  std::string objective;  // such as "p95<=75ms"
  std::string load;       // such as "80%"
  int64_t hog_bytes = 0;  // the most memory that the hog takes
  std::string interfere;  // its time, such as "60s"
  std::string stabilise;  // the longest time before
  int repetitions = 1;
};

// Adds an experiment to a test without one: every service that serves an RPC is
// protected, by weights of CPU and I/O and by memory.low, from a neighbour on
// its nodes that grows as fast as it can ("memory_hog").
void AddMemoryHog(const MemoryHogOptions& options,
                  DistributedSystemDescription& test);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_STORAGE_SUBJECT_H_
