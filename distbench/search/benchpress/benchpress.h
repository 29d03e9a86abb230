// A search in the form in which DCPerf's benchpress reports FeedSim.

#ifndef DISTBENCH_SEARCH_BENCHPRESS_BENCHPRESS_H_
#define DISTBENCH_SEARCH_BENCHPRESS_BENCHPRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench {

struct BenchpressOptions {
  // Only the keys that FeedSim has, and as strings those numbers that are such
  // there.
  bool strict_legacy = false;
};

// One JSON object, or an array of them if there are several searches; docs/
// search.md lists the keys. What is not known is left out, or null where
// readers expect a key. `runs`: of the same files. FAILED_PRECONDITION if there
// is no search, or one whose loads are no rates.
absl::StatusOr<std::string> RenderBenchpress(
    absl::Span<const SourcedSearch> searches, absl::Span<const TestRun> runs,
    const BenchpressOptions& options);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_BENCHPRESS_BENCHPRESS_H_
