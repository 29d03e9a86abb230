#include "distbench/report/measurements/traffic_span.h"

#include "distbench/base/saturating_add.h"

namespace distbench::report {

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
