// Exports latencies in HdrHistogram's percentile output format, which existing
// plotters read.

#ifndef DISTBENCH_REPORT_EXPORT_HDR_H_
#define DISTBENCH_REPORT_EXPORT_HDR_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/outcomes.h"

namespace distbench {

enum class LatencyKind { kService, kResponse };

// Selects a single histogram, because the format has one per file.
struct HdrSelection {
  // Empty: the only test or RPC.
  std::string test;
  std::string rpc;

  // Absent: the response time if there is one, otherwise the service time.
  std::optional<LatencyKind> latency;
};

// Returns the selected latencies over all repetitions of the test.
// INVALID_ARGUMENT lists what could have been selected.
absl::StatusOr<Outcomes> SelectLatency(absl::Span<const TestRun> runs,
                                       const HdrSelection& selection);

// Renders values in milliseconds. Percentiles and counts cover all requests, so
// that the curve ends where the failures begin; mean, deviation and maximum
// cover those that succeeded.
std::string RenderHdr(const Outcomes& outcomes);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_EXPORT_HDR_H_
