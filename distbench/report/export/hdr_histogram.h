// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Both formats of HdrHistogram: its encoding of one histogram, and logs of
// many.

#ifndef DISTBENCH_REPORT_EXPORT_HDR_HISTOGRAM_H_
#define DISTBENCH_REPORT_EXPORT_HDR_HISTOGRAM_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {

// The choice of one RPC: these formats have room for no more.

struct RpcSelection {
  // Empty: the only test or RPC.
  std::string test;
  std::string rpc;

  // Absent: the response time if there is one, otherwise the service time.
  std::optional<LatencyKind> latency;
};

struct SelectedRpc {
  std::string test;

  // In all repetitions of the test.
  std::vector<RpcMeasurements> runs;
  LatencyKind latency = LatencyKind::kService;
  bool is_simulated = false;
};

// INVALID_ARGUMENT lists what could have been selected. Real and simulated runs
// of a test are not added up either.
absl::StatusOr<SelectedRpc> SelectRpc(absl::Span<const TestRun> runs,
                                      const RpcSelection& selection);

// Exports latencies in HdrHistogram's percentile output format, which existing
// plotters read.

// Renders the latencies of the selected RPC over all repetitions of the test,
// in milliseconds. Percentiles and counts cover all requests, so that the curve
// ends where the failures begin; mean, deviation and maximum cover those that
// succeeded.
std::string RenderHdr(const SelectedRpc& rpc);

// Exports latencies over time as an interval log of HdrHistogram (.hlog), for
// HistogramLogAnalyzer, HistogramLogProcessor and others that read version 2
// of its compressed histograms.

// Returns the log of the selected RPC: a line for each interval of its series,
// in order of time, over all repetitions. Values are nanoseconds, the maxima of
// lines milliseconds. Intervals with warm-up are left out. Failures, which have
// no latency, are in comments.
std::string RenderHlog(const SelectedRpc& rpc);

// Returns the histogram in HdrHistogram's encoding V2, compressed, as bytes.
// Two significant digits give it the same buckets, so nothing is rounded.
std::string EncodeHdrHistogram(const stats::LogHistogram& histogram);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_EXPORT_HDR_HISTOGRAM_H_
