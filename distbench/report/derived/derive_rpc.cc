// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RPCs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/percentile_curve.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::report {
namespace {

// Enough for smooth curves on a screen.
constexpr int kPointsPerHalving = 24;

Report::Percentile DerivePercentile(const Percentile& estimate) {
  const auto is_failed = [](const std::optional<int64_t>& value) {
    return value == stats::Outcomes::kFailed;
  };
  const std::optional<int64_t>& lower = estimate.interval.lower;
  const std::optional<int64_t>& upper = estimate.interval.upper;
  Report::Percentile percentile;
  percentile.set_percentile(estimate.percent);
  percentile.set_failed(is_failed(estimate.value_ns));
  percentile.set_lower_failed(is_failed(lower));
  percentile.set_upper_failed(is_failed(upper));
  if (!percentile.failed()) percentile.set_value_ns(estimate.value_ns);
  if (lower && !percentile.lower_failed()) percentile.set_lower_ns(*lower);
  if (upper && !percentile.upper_failed()) percentile.set_upper_ns(*upper);
  using Method = stats::QuantileInterval::Method;
  percentile.set_method(estimate.interval.method == Method::kBlocks
                            ? "blocks"
                            : "order_statistics");
  return percentile;
}

// Nothing of no RPCs.
void SetLatency(const stats::Outcomes& outcomes,
                const std::vector<stats::Outcomes>& blocks,
                Report::Latency* (Report::Rpc::*add)(), Report::Rpc& rpc) {
  if (outcomes.count() == 0) return;
  const stats::LogHistogram& latency_ns = outcomes.latency_ns;
  Report::Latency& latency = *(rpc.*add)();
  latency.set_count(static_cast<int64_t>(outcomes.count()));
  latency.set_failed_count(static_cast<int64_t>(outcomes.failed_count));
  latency.set_overflow_count(static_cast<int64_t>(latency_ns.overflow_count()));
  if (latency_ns.count() > 0) {
    latency.set_min_ns(latency_ns.min());
    latency.set_mean_ns(latency_ns.mean());
    latency.set_standard_deviation_ns(latency_ns.standard_deviation());
    latency.set_max_ns(latency_ns.max());
  }
  for (const Percentile& estimate : EstimatePercentiles(outcomes, blocks)) {
    *latency.add_percentiles() = DerivePercentile(estimate);
  }
  for (const stats::CurvePoint& point :
       stats::PercentileCurve(latency_ns, kPointsPerHalving)) {
    Report::Point& added = *latency.add_distribution();
    added.set_value_ns(point.value);
    added.set_count_at_most(static_cast<int64_t>(point.count_at_most));
  }
}

}  // namespace

Report::Rpc DeriveRpc(const RpcMeasurements& measured) {
  const results::RpcCounts& counts = measured.totals.counts;
  Report::Rpc rpc;
  rpc.set_name(measured.name);
  SetCounts(counts, rpc);
  rpc.set_dropped_sample_count(counts.dropped_sample_count);
  rpc.set_duration_ns(counts.duration_ns());
  rpc.set_per_second(PerSecond(counts.succeeded_count, counts.duration_ns()));
  if (measured.offered) {
    CopyByName(*measured.offered, *rpc.mutable_offered_load());
  }
  if (measured.streams) CopyByName(*measured.streams, *rpc.mutable_streams());
  for (const auto& [cause, count] : measured.failures) {
    Report::Failures& failures = *rpc.add_failures();
    failures.set_cause(cause);
    failures.set_count(count);
  }
  SetLatency(measured.service_time,
             LatencyBlocks(measured.series, LatencyKind::kService),
             &Report::Rpc::mutable_service_time, rpc);
  SetLatency(measured.response_time,
             LatencyBlocks(measured.series, LatencyKind::kResponse),
             &Report::Rpc::mutable_response_time, rpc);
  SetLatency({.latency_ns = measured.totals.lateness_ns}, {},
             &Report::Rpc::mutable_lateness, rpc);
  const stats::LogHistogram& wire_ns =
      TimesOf(measured.totals, results::TimePart::kWire);
  SetLatency({.latency_ns = wire_ns}, {}, &Report::Rpc::mutable_wire_time, rpc);
  if (wire_ns.count() > 0) rpc.set_wire_shared_count(counts.wire_shared_count);
  rpc.set_series_left_out(measured.series.left_out_count);
  if (measured.traffic) {
    rpc.set_start_timestamp_ns(measured.traffic->start_ns);
    rpc.set_end_timestamp_ns(measured.traffic->end_ns);
  }
  return rpc;
}

}  // namespace distbench::report
