// All measurements of one RPC that reports show.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_RPC_MEASUREMENTS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_RPC_MEASUREMENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "distbench/report/measurements/attempt_totals.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/measurements/traffic_span.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/quantile_interval.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Confidence level of all intervals in reports.
inline constexpr double kReportConfidence = 0.95;

struct RpcMeasurements {
  std::string name;
  results::RpcTotals totals;

  // Keyed by cause.
  std::map<std::string, int64_t> failures;

  // Absent in closed loops, and in results that do not record it.
  std::optional<OfferedLoad> offered;

  // Absent if the RPC does not stream.
  std::optional<results::StreamTotals> streams;

  // Absent if the RPC has no policy.
  std::optional<results::PolicyTotals> attempts;

  // See goodput.h.
  std::optional<int64_t> deadline_ns;
  int64_t measured_ns = 0;

  // Outcomes by service time.
  stats::Outcomes service_time;

  // Outcomes by response time; see ResponseTimeOf().
  stats::Outcomes response_time;
  RpcSeries series;

  // Absent if there is no series.
  std::optional<TrafficSpan> traffic;

  // The latency that a caller experiences: response times in open loops,
  // otherwise service times.
  const stats::Outcomes& latency() const;

  // Requests that succeeded in time; and per second of the time in which they
  // were measured, 0 if there is none.
  int64_t goodput_count() const;
  double goodput_per_second() const;
};

// `totals` must belong to the result. max_intervals is the argument of
// CollectSeries().
RpcMeasurements MeasurementsOf(const TestResult& result,
                               const TestTotals& totals, int rpc_index,
                               int64_t max_intervals);

// An estimated percentile of a latency.
struct Percentile {
  double percent;
  int64_t value_ns;  // or Outcomes::kFailed
  stats::QuantileInterval interval;
};

// The percentiles that reports show, ascending.
inline constexpr double kReportPercents[] = {50, 75,   90,    95,
                                             99, 99.9, 99.99, 99.999};

// Returns the percentiles of kReportPercents that the number of requests
// supports. `blocks` cover consecutive requests and may be empty.
std::vector<Percentile> EstimatePercentiles(
    const stats::Outcomes& outcomes,
    const std::vector<stats::Outcomes>& blocks);

// Returns "order_statistics" or "blocks".
std::string MethodName(stats::QuantileInterval::Method method);

// A point of a cumulative distribution, as plots and the percentile format of
// HdrHistogram have them.
struct CurvePoint {
  int64_t value;

  // The exact number of values that are at most `value`.
  uint64_t count_at_most;
};

// Returns points of the cumulative distribution, ascending; the last point
// covers all values. Points become denser towards the maximum: there are
// points_per_halving (at least 1) of them for each halving of the share of
// values above. Empty if the histogram is empty.
std::vector<CurvePoint> PercentileCurve(const stats::LogHistogram& histogram,
                                        int points_per_halving);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_RPC_MEASUREMENTS_H_
