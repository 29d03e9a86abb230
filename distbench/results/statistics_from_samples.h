// Statistics for results that hold samples only, as older tools write them.

#ifndef DISTBENCH_RESULTS_STATISTICS_FROM_SAMPLES_H_
#define DISTBENCH_RESULTS_STATISTICS_FROM_SAMPLES_H_

#include "proto/results.pb.h"

namespace distbench {

// What the samples of the log add up to. RPCs without a sample are missing from
// it: nothing in such a result tells how many there were.
RpcStatistics StatisticsFromSamples(const RpcPerformanceLog& log);

// Gives statistics to all RPC logs that lack them, so that every transform can
// rely on them.
void AddMissingStatistics(TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_RESULTS_STATISTICS_FROM_SAMPLES_H_
