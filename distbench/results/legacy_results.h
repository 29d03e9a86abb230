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

// Removes the logs of instances that neither sent an RPC nor did anything that
// is logged. Older tools take every log for that of an active instance.
void DropSilentInstances(ServiceLogs& logs);

// Removes distbench's own fields, at any depth, and the logs of silent
// instances. Parsers of text refuse fields that they do not know.
void DropExtensions(TestSequenceResults& results);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_LEGACY_RESULTS_H_
