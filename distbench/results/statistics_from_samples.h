// Computes statistics for results that only contain samples, as older tools
// write them.

#ifndef DISTBENCH_RESULTS_STATISTICS_FROM_SAMPLES_H_
#define DISTBENCH_RESULTS_STATISTICS_FROM_SAMPLES_H_

#include "proto/results.pb.h"

namespace distbench::results {

// The totals of the log's samples. RPCs without a sample are missing, because
// such results do not say how many there were.
RpcStatistics StatisticsFromSamples(const RpcPerformanceLog& log);

// Adds statistics to all RPC logs that lack them, so that all transforms can
// rely on statistics.
void AddMissingStatistics(TestResult& result);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_STATISTICS_FROM_SAMPLES_H_
