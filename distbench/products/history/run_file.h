// Runs that a sequencer keeps with --results_dir.

#ifndef DISTBENCH_PRODUCTS_HISTORY_RUN_FILE_H_
#define DISTBENCH_PRODUCTS_HISTORY_RUN_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/products/history/result_source.h"
#include "proto/control.pb.h"

namespace distbench::history {

// Reads the description of a run (ID.run). The error names the file.
absl::StatusOr<RunDescription> ReadRunDescription(const std::string& path);

// Whether the run has a result that will not change any more.
bool IsKept(const RunDescription& run);

// Reads the result of a run (ID.result), which `run` describes. What is missing
// of it is said by the failures of its tests, as in `distbench runs get`.
// RESOURCE_EXHAUSTED if it has more than `max_bytes`.
absl::StatusOr<KeptResults> ReadRunResult(const std::string& path,
                                          const RunDescription& run,
                                          int64_t max_bytes);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_RUN_FILE_H_
