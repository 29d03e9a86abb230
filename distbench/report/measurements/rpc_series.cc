// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/rpc_series.h"

#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/time_series.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::report {
namespace {

// The series of the RPC's clients that can be added up, in series.interval_ns:
// the interval of the widest valid one; 0 if there are none. Counts the others.
std::vector<const RpcTimeSeries*> UsableSeries(const TestResult& result,
                                               int rpc_index,
                                               RpcSeries& series) {
  std::vector<const RpcTimeSeries*> usable;
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    const auto found = log.rpc_time_series().find(rpc_index);
    if (found == log.rpc_time_series().end()) continue;
    if (HasValidTimes(found->second)) {
      usable.push_back(&found->second);
      series.interval_ns =
          std::max(series.interval_ns, found->second.interval_ns());
    } else {
      ++series.left_out_count;
    }
  }
  series.left_out_count +=
      static_cast<int>(std::erase_if(usable, [&](const RpcTimeSeries* each) {
        return series.interval_ns % each->interval_ns() != 0;
      }));
  return usable;
}

// Returns how many neighbouring intervals of the widest series to merge.
int64_t IntervalsPerPoint(const std::vector<const RpcTimeSeries*>& all,
                          int64_t widest_ns, int64_t max_intervals) {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const RpcTimeSeries* series : all) {
    const int64_t ratio = widest_ns / series->interval_ns();
    for (const RpcInterval& interval : series->intervals()) {
      first = std::min(first, interval.index() / ratio);
      last = std::max(last, interval.index() / ratio);
    }
  }
  if (first > last) return 1;
  return (last - first) / max_intervals + 1;
}

void AddInterval(const RpcInterval& interval, IntervalTotals& totals) {
  results::AddCounts(interval, totals);
  // Valid according to HasValidTimes(), or absent, which adds nothing.
  results::AddHistogram(interval.service_time_ns(), totals.service_time_ns)
      .IgnoreError();
  results::AddHistogram(interval.response_time_ns(), totals.response_time_ns)
      .IgnoreError();
}

}  // namespace

bool HasValidTimes(const RpcTimeSeries& series) {
  if (!results::ValidateTimeSeries(series).ok()) return false;
  const auto& intervals = series.intervals();
  return intervals.empty() ||
         (intervals.begin()->index() >= 0 &&
          intervals.rbegin()->index() <
              std::numeric_limits<int64_t>::max() / series.interval_ns());
}

RpcSeries CollectSeries(const TestResult& result, int rpc_index,
                        int64_t max_intervals) {
  RpcSeries series;
  const std::vector<const RpcTimeSeries*> usable =
      UsableSeries(result, rpc_index, series);
  series.interval_ns *=
      IntervalsPerPoint(usable, series.interval_ns, max_intervals);
  for (const RpcTimeSeries* client_series : usable) {
    const int64_t ratio = series.interval_ns / client_series->interval_ns();
    for (const RpcInterval& interval : client_series->intervals()) {
      AddInterval(interval, series.intervals[interval.index() / ratio]);
    }
  }
  return series;
}

absl::string_view LatencyName(LatencyKind kind) {
  return kind == LatencyKind::kResponse ? "response time" : "service time";
}

bool IsOpenLoop(const RpcSeries& series) {
  return absl::c_any_of(series.intervals, [](const auto& interval) {
    return interval.second.offered > 0;
  });
}

std::vector<stats::Outcomes> LatencyBlocks(const RpcSeries& series,
                                           LatencyKind kind) {
  std::vector<stats::OutcomesView> measured;
  for (const auto& [index, totals] : series.intervals) {
    if (totals.warmup == 0) {
      measured.emplace_back(totals.latency_ns(kind), totals.failed);
    }
  }
  return stats::MakeBlocks(measured);
}

namespace {

constexpr int64_t kMaxCurveIntervals = 10'000;

int64_t MedianOf(const IntervalTotals& totals) {
  const bool has_response_times = totals.response_time_ns.count() > 0;
  const stats::OutcomesView outcomes(
      has_response_times ? totals.response_time_ns : totals.service_time_ns,
      static_cast<uint64_t>(totals.failed));
  return outcomes.count() == 0 ? stats::Outcomes::kFailed
                               : outcomes.ValueAtQuantile(0.5);
}

LoadInterval LoadOfInterval(const IntervalTotals& totals,
                            std::optional<int64_t> deadline_ns) {
  return {.offered = totals.offered,
          .sent = totals.sent,
          .attempts = totals.attempts,
          .goodput =
              GoodputOf(totals.succeeded, totals.response_time_ns, deadline_ns),
          .is_warmup = totals.warmup > 0,
          .median_ns = MedianOf(totals)};
}

}  // namespace

LoadCurve LoadCurveOf(const TestResult& result, int rpc_index) {
  const RpcSeries series = CollectSeries(result, rpc_index, kMaxCurveIntervals);
  LoadCurve curve = {.interval_ns = series.interval_ns,
                     .is_open_loop = IsOpenLoop(series)};
  int64_t first = -1;
  int64_t last = -1;
  for (const auto& [index, totals] : series.intervals) {
    const bool has_traffic =
        curve.is_open_loop ? totals.offered > 0 : totals.sent > 0;
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

std::optional<TrafficSpan> SpanOfTraffic(const RunInfo& run_info,
                                         const results::RpcCounts& counts,
                                         const RpcSeries& series) {
  if (series.intervals.empty()) return std::nullopt;
  const int64_t width_ns = series.interval_ns;
  const int64_t first_ns = series.intervals.begin()->first * width_ns;
  const int64_t last_ns = series.intervals.rbegin()->first * width_ns;
  TrafficSpan span = {.start_ns = first_ns,
                      .end_ns = base::SaturatingAdd(last_ns, width_ns)};

  const auto is_in_first = [&](int64_t timestamp_ns) {
    return timestamp_ns >= first_ns && timestamp_ns - first_ns < width_ns;
  };
  // The counts, unlike the series, exclude the warm-up.
  if (counts.warmup_count == 0 && counts.has_timestamps() &&
      is_in_first(counts.first_start_timestamp_ns)) {
    span.start_ns = counts.first_start_timestamp_ns;
  } else if (is_in_first(run_info.start_timestamp_ns())) {
    span.start_ns = run_info.start_timestamp_ns();
  }

  const auto is_in_last = [&](int64_t timestamp_ns) {
    return timestamp_ns > last_ns && timestamp_ns <= span.end_ns;
  };
  if (counts.has_timestamps() && is_in_last(counts.last_end_timestamp_ns)) {
    span.end_ns = counts.last_end_timestamp_ns;
  } else if (is_in_last(run_info.end_timestamp_ns())) {
    span.end_ns = run_info.end_timestamp_ns();
  }
  return span;
}

}  // namespace distbench::report
