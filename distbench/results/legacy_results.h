// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Results of older tools, and for them: these know only samples, and no field
// from 1000 up.

#ifndef DISTBENCH_RESULTS_LEGACY_RESULTS_H_
#define DISTBENCH_RESULTS_LEGACY_RESULTS_H_

#include "proto/results.pb.h"

namespace distbench::results {

// The totals of the log's samples. RPCs without a sample are missing, because
// such results do not say how many there were.
RpcStatistics StatisticsFromSamples(const RpcPerformanceLog& log);

// Adds statistics to all RPC logs that lack them, so that all transforms can
// rely on statistics.
void AddMissingStatistics(TestResult& result);

// Leaves what older tools expect: the logs of instances that sent an RPC or did
// something that is logged, as they take every log for that of an active
// instance; and of the metrics of activities the number of iterations, where
// they expect no other.
void FitToOlderTools(ServiceLogs& logs);

// Does the same, and removes distbench's own fields, at any depth. Parsers of
// text refuse fields that they do not know.
void DropExtensions(TestSequenceResults& results);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_LEGACY_RESULTS_H_
