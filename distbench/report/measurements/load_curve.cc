#include "distbench/report/measurements/load_curve.h"

#include <optional>

#include "distbench/report/measurements/goodput.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
namespace {

constexpr int64_t kMaxCurveIntervals = 10'000;

int64_t MedianOf(const IntervalTotals& totals) {
  const bool has_response_times = totals.response_time_ns.count() > 0;
  const stats::OutcomesView outcomes(
      has_response_times ? totals.response_time_ns : totals.service_time_ns,
      static_cast<uint64_t>(totals.failed_count));
  return outcomes.count() == 0 ? stats::Outcomes::kFailed
                               : outcomes.ValueAtQuantile(0.5);
}

LoadInterval LoadOfInterval(const IntervalTotals& totals,
                            std::optional<int64_t> deadline_ns) {
  return {.offered = totals.offered_count,
          .sent = totals.sent_count,
          .attempts = totals.attempt_count,
          .goodput = GoodputOf(totals.succeeded_count, totals.response_time_ns,
                               deadline_ns),
          .is_warmup = totals.warmup_count > 0,
          .median_ns = MedianOf(totals)};
}

}  // namespace

LoadCurve LoadCurveOf(const TestResult& result, int rpc_index) {
  const RpcSeries series = CollectSeries(result, rpc_index, kMaxCurveIntervals);
  LoadCurve curve = {.interval_ns = series.interval_ns};
  for (const auto& [index, totals] : series.intervals) {
    curve.is_open_loop |= totals.offered_count > 0;
  }
  int64_t first = -1;
  int64_t last = -1;
  for (const auto& [index, totals] : series.intervals) {
    const bool has_traffic =
        curve.is_open_loop ? totals.offered_count > 0 : totals.sent_count > 0;
    if (!has_traffic) continue;
    if (first < 0) first = index;
    last = index;
  }
  const std::optional<int64_t> deadline_ns = DeadlineOf(result, rpc_index);
  for (int64_t index = first + 1; index < last; ++index) {
    const auto found = series.intervals.find(index);
    LoadInterval& interval = curve.intervals.emplace_back(
        found == series.intervals.end()
            ? LoadInterval{.median_ns = stats::Outcomes::kFailed}
            : LoadOfInterval(found->second, deadline_ns));
    interval.begin_ns = index * series.interval_ns;
  }
  return curve;
}

}  // namespace distbench::report
