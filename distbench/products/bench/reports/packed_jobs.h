// What `pack` puts into an archive.

#ifndef DISTBENCH_PRODUCTS_BENCH_REPORTS_PACKED_JOBS_H_
#define DISTBENCH_PRODUCTS_BENCH_REPORTS_PACKED_JOBS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/bench/files/tarball.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

// The files of an archive, below the folder `name`: the result file; a report
// of all jobs; and for each job, in a folder of its own, its tests as a config,
// its hosts as text, its report, and its results, which distbench report reads.
// RESOURCE_EXHAUSTED if a message is too large to be written.
absl::StatusOr<std::vector<PackedFile>> PackedJobs(const BenchFile& file,
                                                   const std::string& name,
                                                   absl::TimeZone zone);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_REPORTS_PACKED_JOBS_H_
