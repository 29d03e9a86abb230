// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Merges the pieces of results that instances and nodes send. The order of
// pieces only affects the order of samples.

#ifndef DISTBENCH_RESULTS_MERGE_H_
#define DISTBENCH_RESULTS_MERGE_H_

#include "absl/status/status.h"
#include "proto/results.pb.h"

namespace distbench::results {

// The times that a FaultLog keeps.
inline constexpr int kMaxFaultTimes = 1000;

// Merges a piece of an instance's log: moves samples, adds statistics
// (including pooled ones), series over time, offered loads, faults and
// admission, and sets what an instance sends only once (error dictionary,
// activity logs except for their series, error message). INVALID_ARGUMENT if
// the piece does not say where it belongs, or contradicts itself or the
// statistics that it is added to; `logs` then may have a part of it.
absl::Status MergeChunk(ResultChunk chunk, ServiceLogs& logs);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_MERGE_H_
