#include "distbench/stats/interval_series.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace distbench {

void IntervalCounts::Add(const IntervalCounts& other) {
  offered += other.offered;
  sent += other.sent;
  succeeded += other.succeeded;
  failed += other.failed;
  warmup += other.warmup;
  request_bytes += other.request_bytes;
  response_bytes += other.response_bytes;
}

// Makes the interval if there is none.
void IntervalSeries::Find(int64_t index) {
  if (intervals_.empty() || intervals_.back().index < index) {
    last_used_ = &intervals_.emplace_back();
  } else {
    const auto at = std::lower_bound(
        intervals_.begin(), intervals_.end(), index,
        [](const Interval& interval, int64_t i) { return interval.index < i; });
    last_used_ =
        at->index == index ? &*at : &*intervals_.insert(at, Interval());
  }
  last_used_->index = index;
}

// Packs the interval that is being recorded, and prepares for another one.
void IntervalSeries::TurnTo(int64_t index) {
  if (live_index_ != kNever) {
    if (recent_ != nullptr) {
      recent_->Publish(live_service_time_ns_, live_response_time_ns_);
    }
    Find(live_index_);
    // It may have been packed before, if values came out of order.
    last_used_->service_time_ns.AddTo(live_service_time_ns_);
    last_used_->response_time_ns.AddTo(live_response_time_ns_);
    last_used_->service_time_ns = PackedHistogram(live_service_time_ns_);
    last_used_->response_time_ns = PackedHistogram(live_response_time_ns_);
    live_service_time_ns_.Clear();
    live_response_time_ns_.Clear();
  }
  live_index_ = index;
  Find(index);
}

void IntervalSeries::AddTo(const Interval& interval, IntervalCounts& counts,
                           LogHistogram& service_time_ns,
                           LogHistogram& response_time_ns) const {
  counts.Add(interval.counts);
  interval.service_time_ns.AddTo(service_time_ns);
  interval.response_time_ns.AddTo(response_time_ns);
  if (interval.index == live_index_) {
    service_time_ns.Merge(live_service_time_ns_);
    response_time_ns.Merge(live_response_time_ns_);
  }
}

void IntervalSeries::ForEach(absl::Span<const IntervalSeries* const> series,
                             absl::FunctionRef<void(const View&)> visit) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  std::vector<size_t> positions(series.size(), 0);
  LogHistogram service_time_ns;
  LogHistogram response_time_ns;
  for (;;) {
    int64_t index = kNone;
    for (size_t i = 0; i < series.size(); ++i) {
      if (positions[i] == series[i]->intervals_.size()) continue;
      index = std::min(index, series[i]->intervals_[positions[i]].index);
    }
    if (index == kNone) return;
    IntervalCounts counts;
    for (size_t i = 0; i < series.size(); ++i) {
      const std::deque<Interval>& intervals = series[i]->intervals_;
      if (positions[i] == intervals.size()) continue;
      if (intervals[positions[i]].index != index) continue;
      series[i]->AddTo(intervals[positions[i]++], counts, service_time_ns,
                       response_time_ns);
    }
    visit({index, counts, service_time_ns, response_time_ns});
    service_time_ns.Clear();
    response_time_ns.Clear();
  }
}

}  // namespace distbench
