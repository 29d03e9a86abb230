// What happened over time: counts and histograms per interval.

#ifndef DISTBENCH_STATS_INTERVAL_SERIES_H_
#define DISTBENCH_STATS_INTERVAL_SERIES_H_

#include <cstdint>
#include <deque>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/packed_histogram.h"
#include "distbench/stats/recent_times.h"

namespace distbench {

// How often things happened within one interval, and how many bytes they moved.
struct IntervalCounts {
  void Add(const IntervalCounts& other);

  int64_t offered = 0;
  int64_t sent = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
  int64_t warmup = 0;
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
};

// Intervals are numbered by the caller. Only those in which something happened
// take memory: some hundred bytes for the counts and about three per bucket of
// the histograms. The interval that is being recorded has histograms that are
// fast to record into; turning to another one costs some microseconds, so
// values should come mostly in order of time. Within an interval nothing is
// allocated, but for a histogram's new octaves. Not thread-safe.
class IntervalSeries {
 public:
  // recent: null, or is told the histograms of each interval that has passed.
  // It must outlive the series.
  explicit IntervalSeries(RecentTimes* recent = nullptr) : recent_(recent) {}

  // The counts of an interval: valid until At() is called for another one.
  IntervalCounts& At(int64_t index) {
    if (last_used_ == nullptr || last_used_->index != index) [[unlikely]] {
      Find(index);
    }
    return last_used_->counts;
  }

  // The histograms of an interval, to record into: valid until that is done for
  // another one.
  LogHistogram& ServiceTimes(int64_t index) {
    MakeLive(index);
    return live_service_time_ns_;
  }
  LogHistogram& ResponseTimes(int64_t index) {
    MakeLive(index);
    return live_response_time_ns_;
  }

  // An interval as one visits it.
  struct View {
    int64_t index;
    const IntervalCounts& counts;
    const LogHistogram& service_time_ns;
    const LogHistogram& response_time_ns;
  };

  // Visits the intervals in which anything happened, in ascending order; those
  // of several series with the same number are added up.
  static void ForEach(absl::Span<const IntervalSeries* const> series,
                      absl::FunctionRef<void(const View&)> visit);

 private:
  static constexpr int64_t kNever = -1;

  struct Interval {
    int64_t index = 0;
    IntervalCounts counts;
    PackedHistogram service_time_ns;
    PackedHistogram response_time_ns;
  };

  void MakeLive(int64_t index) {
    if (index != live_index_) [[unlikely]] {
      TurnTo(index);
    }
  }
  void Find(int64_t index);
  void TurnTo(int64_t index);
  void AddTo(const Interval& interval, IntervalCounts& counts,
             LogHistogram& service_time_ns,
             LogHistogram& response_time_ns) const;

  RecentTimes* recent_;
  std::deque<Interval> intervals_;  // ascending
  Interval* last_used_ = nullptr;   // by At()

  int64_t live_index_ = kNever;
  LogHistogram live_service_time_ns_;
  LogHistogram live_response_time_ns_;
};

}  // namespace distbench

#endif  // DISTBENCH_STATS_INTERVAL_SERIES_H_
