// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Reads the results of runs in a sequencer's --results_dir, also while the
// sequencer uses it, and whoever reads may not write there.

#ifndef DISTBENCH_SEQUENCER_RUNS_KEPT_RUN_H_
#define DISTBENCH_SEQUENCER_RUNS_KEPT_RUN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::sequencer {

// What the file with the result of a run is called: ID.result.
inline constexpr absl::string_view kRunResultSuffix = ".result";

// "a/ID.run" of "a/ID.result": the file with the description of the run.
std::string DescriptionFileOf(absl::string_view result_path);

// Reads the file of a description. The error names the path.
absl::StatusOr<RunDescription> ReadRunDescription(const std::string& path);

// Whether the run has a result, which will not change any more.
bool HasFinalResult(const RunDescription& run);

// Reads the final result of `run` from the file `path`, with statistics as
// ReadResults() returns. What is missing of it is said by the failures of its
// tests, as in `distbench runs get`. The error names the path:
// RESOURCE_EXHAUSTED if the file has more than `max_bytes`, DATA_LOSS if it is
// damaged.
absl::StatusOr<TestSequenceResults> ReadRunResult(const std::string& path,
                                                  const RunDescription& run,
                                                  int64_t max_bytes);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_KEPT_RUN_H_
