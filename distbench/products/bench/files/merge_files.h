// Merges the result files of several hosts or days.

#ifndef DISTBENCH_PRODUCTS_BENCH_FILES_MERGE_FILES_H_
#define DISTBENCH_PRODUCTS_BENCH_FILES_MERGE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

struct SourcedBenchFile {
  std::string source;
  BenchFile file;
};

struct MergedBenchFile {
  BenchFile file;

  // Jobs that were left out because they are not done, one sentence each.
  std::vector<std::string> left_out;
};

// Returns the done jobs of all files, each with its origin. Jobs that can be
// compared (see GroupKeyOf()) become repetitions of one job, next to each
// other. INVALID_ARGUMENT if there is no such job, or if a job is in several
// files. FAILED_PRECONDITION, unless `force`, if requirements of a job were
// missed.
absl::StatusOr<MergedBenchFile> MergeBenchFiles(
    absl::Span<const SourcedBenchFile> sources, bool force);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_FILES_MERGE_FILES_H_
