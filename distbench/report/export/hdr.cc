#include "distbench/report/export/hdr.h"

#include "absl/strings/str_format.h"
#include "distbench/base/time_units.h"
#include "distbench/report/measurements/rpc_measurements.h"

namespace distbench::report {
namespace {

// HdrHistogram's default.
constexpr int kPointsPerHalving = 5;

}  // namespace

absl::StatusOr<SelectedLatency> SelectLatency(absl::Span<const TestRun> runs,
                                              const RpcSelection& selection) {
  const absl::StatusOr<SelectedRpc> rpc = SelectRpc(runs, selection);
  if (!rpc.ok()) return rpc.status();
  SelectedLatency sum = {.outcomes = {}, .is_simulated = rpc->is_simulated};
  for (const RpcMeasurements& run : rpc->runs) {
    sum.outcomes.Merge(rpc->latency == LatencyKind::kService
                           ? run.service_time
                           : run.response_time);
  }
  return sum;
}

std::string RenderHdr(const SelectedLatency& latency) {
  const stats::Outcomes& outcomes = latency.outcomes;
  const stats::LogHistogram& latency_ns = outcomes.latency_ns;
  std::string text =
      absl::StrFormat("%12s %14s %10s %14s\n\n", "Value", "Percentile",
                      "TotalCount", "1/(1-Percentile)");
  const uint64_t total = outcomes.count();
  for (const CurvePoint& point :
       PercentileCurve(latency_ns, kPointsPerHalving)) {
    const double share =
        static_cast<double>(point.count_at_most) / static_cast<double>(total);
    absl::StrAppendFormat(&text, "%12.6f %14.12f %10d",
                          static_cast<double>(point.value) / base::kNsPerMs,
                          share, point.count_at_most);
    if (point.count_at_most < total) {
      absl::StrAppendFormat(&text, " %14.2f", 1 / (1 - share));
    }
    text += '\n';
  }
  const bool is_empty = latency_ns.count() == 0;
  const double max_ns = is_empty ? 0.0 : static_cast<double>(latency_ns.max());
  absl::StrAppendFormat(
      &text, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n",
      latency_ns.mean() / base::kNsPerMs,
      is_empty ? 0.0 : latency_ns.standard_deviation() / base::kNsPerMs);
  absl::StrAppendFormat(&text, "#[Max     = %12.6f, Total count    = %12d]\n",
                        max_ns / base::kNsPerMs, total);
  absl::StrAppendFormat(&text, "#[Buckets = %12d, SubBuckets     = %12d]\n",
                        stats::LogHistogram::kOctaves,
                        stats::LogHistogram::kSubBuckets);
  if (outcomes.failed_count > 0) {
    absl::StrAppendFormat(&text, "#[Failed  = %12d, above all values]\n",
                          outcomes.failed_count);
  }
  if (latency.is_simulated) {
    text += "#[Simulated: nothing of it was measured]\n";
  }
  return text;
}

}  // namespace distbench::report
