// Exports latencies in HdrHistogram's percentile output format, which existing
// plotters read.

#ifndef DISTBENCH_REPORT_EXPORT_HDR_H_
#define DISTBENCH_REPORT_EXPORT_HDR_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/log_histogram.h"

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

// Returns the selected latencies of all repetitions of the test.
// INVALID_ARGUMENT lists the possible selections.
absl::StatusOr<LogHistogram> SelectLatency(absl::Span<const TestRun> runs,
                                           const HdrSelection& selection);

// Renders latencies in milliseconds.
std::string RenderHdr(const LogHistogram& latency_ns);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_EXPORT_HDR_H_
