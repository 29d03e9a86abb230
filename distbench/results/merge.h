// Puts together what instances and nodes send in pieces. The order of the
// pieces does not matter, but for that of the samples.

#ifndef DISTBENCH_RESULTS_MERGE_H_
#define DISTBENCH_RESULTS_MERGE_H_

#include "absl/status/status.h"
#include "proto/results.pb.h"

namespace distbench {

// Adds `from` to `into`. Both must be of the same instance, as failures are
// counted by index into its error dictionary. INVALID_ARGUMENT if either is
// contradictory; `into` is unchanged then.
absl::Status MergeStatistics(const RpcStatistics& from, RpcStatistics& into);

// Puts a piece of an instance's log in its place: moves samples, adds
// statistics (pooled ones too), series over time and offered loads. What an instance sends only
// once (error dictionary, activity logs, error message) is set.
// INVALID_ARGUMENT if the piece does not say where it belongs, or contradicts
// itself or the statistics that it is added to.
absl::Status MergeChunk(ResultChunk chunk, ServiceLogs& logs);

}  // namespace distbench

#endif  // DISTBENCH_RESULTS_MERGE_H_
