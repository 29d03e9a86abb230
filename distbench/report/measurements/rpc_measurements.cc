#include "distbench/report/measurements/rpc_measurements.h"

#include <cmath>

#include "distbench/report/measurements/goodput.h"
#include "distbench/report/measurements/stream_times.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

// The first tick above `share`. Ticks divide each halving of the remaining
// share into equal parts.
double NextTick(double share, int points_per_halving) {
  const double halvings = std::floor(-std::log2(1 - share));
  const double step = std::exp2(-halvings - 1) / points_per_halving;
  return (std::floor(share / step + 1e-9) + 1) * step;
}

}  // namespace

RpcMeasurements MeasurementsOf(const TestResult& result,
                               const TestTotals& totals, int rpc_index,
                               int64_t max_intervals) {
  RpcMeasurements rpc;
  rpc.name = results::RpcName(result, rpc_index);
  if (const auto found = totals.rpcs.find(rpc.name);
      found != totals.rpcs.end()) {
    rpc.totals = found->second;
  }
  if (const auto found = totals.failures.find(rpc.name);
      found != totals.failures.end()) {
    rpc.failures = found->second;
  }
  rpc.offered = OfferedLoadOf(result, rpc.name);
  rpc.streams = StreamsOf(result, rpc.name);
  rpc.attempts = AttemptsOf(result, rpc.name);
  rpc.deadline_ns = DeadlineOf(result, rpc_index);
  rpc.measured_ns = MeasuredNs(result, rpc_index, rpc.totals.counts);
  rpc.service_time = ServiceTimeOf(rpc.totals);
  rpc.response_time = ResponseTimeOf(result, totals, rpc.name);
  rpc.series = CollectSeries(result, rpc_index, max_intervals);
  rpc.traffic = SpanOfTraffic(result.run_info(), rpc.totals.counts, rpc.series);
  return rpc;
}

const stats::Outcomes& RpcMeasurements::latency() const {
  return response_time.count() > 0 ? response_time : service_time;
}

int64_t RpcMeasurements::goodput_count() const {
  return GoodputOf(totals.counts.succeeded_count, response_time.latency_ns,
                   deadline_ns);
}

double RpcMeasurements::goodput_per_second() const {
  return PerSecond(static_cast<double>(goodput_count()), measured_ns);
}

std::vector<Percentile> EstimatePercentiles(
    const stats::Outcomes& outcomes,
    const std::vector<stats::Outcomes>& blocks) {
  std::vector<Percentile> percentiles;
  for (const double percent : kReportPercents) {
    const double quantile = percent / 100;
    if (!stats::SupportsQuantile(outcomes.count(), quantile)) break;
    percentiles.push_back({percent, outcomes.ValueAtQuantile(quantile),
                           stats::IntervalOfQuantile(outcomes, blocks, quantile,
                                                     kReportConfidence)});
  }
  return percentiles;
}

std::string MethodName(stats::QuantileInterval::Method method) {
  return method == stats::QuantileInterval::Method::kBlocks
             ? "blocks"
             : "order_statistics";
}

std::vector<CurvePoint> PercentileCurve(const stats::LogHistogram& histogram,
                                        int points_per_halving) {
  std::vector<CurvePoint> curve;
  if (histogram.count() == 0) return curve;
  const double total = static_cast<double>(histogram.count());
  uint64_t count = 0;
  double next_tick = 0;
  for (const stats::LogHistogram::Bucket& bucket : histogram.Buckets()) {
    count += bucket.count;
    if (count == histogram.count()) break;
    const double share = static_cast<double>(count) / total;
    if (share < next_tick) continue;
    curve.push_back({bucket.upper, count});
    next_tick = NextTick(share, points_per_halving);
  }
  curve.push_back({histogram.max(), histogram.count()});
  return curve;
}

}  // namespace distbench::report
