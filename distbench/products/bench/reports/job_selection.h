// Jobs of a result file that a user names.

#ifndef DISTBENCH_PRODUCTS_BENCH_REPORTS_JOB_SELECTION_H_
#define DISTBENCH_PRODUCTS_BENCH_REPORTS_JOB_SELECTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

// Returns the jobs that any selector names, in the order of the file: a number
// of the list (from 1), a kind, or "KIND:id=ID". Without selectors, all jobs.
// NOT_FOUND if a selector names none, INVALID_ARGUMENT for other options. The
// pointers are into `file`.
absl::StatusOr<std::vector<const BenchJob*>> SelectJobs(
    const BenchFile& file, absl::Span<const std::string> selectors);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_REPORTS_JOB_SELECTION_H_
