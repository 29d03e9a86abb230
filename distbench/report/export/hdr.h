// Exports latencies in HdrHistogram's percentile output format, which existing
// plotters read.

#ifndef DISTBENCH_REPORT_EXPORT_HDR_H_
#define DISTBENCH_REPORT_EXPORT_HDR_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/export/rpc_selection.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {

struct SelectedLatency {
  stats::Outcomes outcomes;
  bool is_simulated = false;
};

// Returns the selected latencies over all repetitions of the test.
// INVALID_ARGUMENT as from SelectRpc().
absl::StatusOr<SelectedLatency> SelectLatency(absl::Span<const TestRun> runs,
                                              const RpcSelection& selection);

// Renders values in milliseconds. Percentiles and counts cover all requests, so
// that the curve ends where the failures begin; mean, deviation and maximum
// cover those that succeeded.
std::string RenderHdr(const SelectedLatency& latency);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_EXPORT_HDR_H_
