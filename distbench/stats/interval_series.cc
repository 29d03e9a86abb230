// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/interval_series.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace distbench::stats {
namespace {

// The overhead of a map per element: links, and the allocator's share.
constexpr int64_t kNodeBytes = 56;

// Fast enough to keep up with new intervals; each costs a few microseconds.
constexpr int kPutTogetherAtOnce = 8;

// About a year of seconds: longer than any test.
constexpr int64_t kWidest = 1 << 25;

}  // namespace

void IntervalCounts::Add(const IntervalCounts& other) {
  offered += other.offered;
  sent += other.sent;
  succeeded += other.succeeded;
  failed += other.failed;
  warmup += other.warmup;
  request_bytes += other.request_bytes;
  response_bytes += other.response_bytes;
  attempts += other.attempts;
}

void IntervalSeries::Interval::Merge(const Interval& other) {
  counts.Add(other.counts);
  service_time_ns.Merge(other.service_time_ns);
  response_time_ns.Merge(other.response_time_ns);
}

int64_t IntervalSeries::Interval::memory_bytes() const {
  return kNodeBytes + static_cast<int64_t>(sizeof(Interval)) +
         service_time_ns.allocated_bytes() + response_time_ns.allocated_bytes();
}

void IntervalSeries::Find(int64_t step) {
  last_used_ = &open_[step];
  last_step_ = step;
}

// Packs the step that is being recorded, and prepares for another.
void IntervalSeries::TurnTo(int64_t step) {
  PackLive();
  live_step_ = step;
  Find(step);
}

void IntervalSeries::PackLive() {
  if (live_step_ == kNever) return;
  // The step may have been packed before, if values came out of order.
  Interval& packed = open_[live_step_];
  packed.service_time_ns.Merge(PackedHistogram(live_service_time_ns_));
  packed.response_time_ns.Merge(PackedHistogram(live_response_time_ns_));
  live_service_time_ns_.Clear();
  live_response_time_ns_.Clear();
  live_step_ = kNever;
}

// Makes the interval if it does not exist.
IntervalSeries::Interval& IntervalSeries::IntervalOf(int64_t step) {
  const int64_t first_step = step / width_ * width_;
  const auto found = intervals_.lower_bound(first_step);
  if (found != intervals_.end() && found->first / width_ == step / width_) {
    return found->second;
  }
  Interval& made = intervals_.try_emplace(found, first_step)->second;
  memory_bytes_ += made.memory_bytes();
  return made;
}

void IntervalSeries::Add(int64_t step, const Interval& recorded) {
  Interval& interval = IntervalOf(step);
  memory_bytes_ -= interval.memory_bytes();
  interval.Merge(recorded);
  memory_bytes_ += interval.memory_bytes();
}

void IntervalSeries::AddTo(IntervalSeries& series) const {
  for (const auto& [step, interval] : intervals_) series.Add(step, interval);
}

void IntervalSeries::Close(Told told) {
  PackLive();
  for (const auto& [step, recorded] : open_) {
    Add(step, recorded);
    told(step, recorded);
  }
  open_.clear();
  last_step_ = kNever;
}

void IntervalSeries::Widen(int64_t width) {
  width_ = width;
  to_put_together_ = kNever;
}

bool IntervalSeries::PutTogether(int max_count) {
  if (to_put_together_ == kEnd) return true;
  auto at = intervals_.lower_bound(to_put_together_);
  for (; max_count > 0 && at != intervals_.end(); --max_count) {
    const auto next = std::next(at);
    if (next == intervals_.end() ||
        next->first / width_ != at->first / width_) {
      at = next;
      continue;
    }
    memory_bytes_ -= at->second.memory_bytes() + next->second.memory_bytes();
    at->second.Merge(next->second);
    memory_bytes_ += at->second.memory_bytes();
    intervals_.erase(next);
  }
  to_put_together_ = at == intervals_.end() ? kEnd : at->first;
  return to_put_together_ == kEnd;
}

// The memory of the intervals falls as they are merged, so they are not widened
// again until that is done.
int64_t IntervalSeries::KeepWithin(int64_t max_bytes, int64_t width,
                                   absl::Span<IntervalSeries* const> series) {
  bool is_done = true;
  int64_t bytes = 0;
  for (IntervalSeries* each : series) {
    is_done &= each->PutTogether(kPutTogetherAtOnce);
    bytes += each->memory_bytes();
  }
  if (!is_done || width == kWidest || bytes <= max_bytes) return width;
  for (IntervalSeries* each : series) each->Widen(2 * width);
  return 2 * width;
}

int64_t IntervalSeries::WidestOf(
    absl::Span<const IntervalSeries* const> series) {
  int64_t widest = 1;
  for (const IntervalSeries* each : series) {
    widest = std::max(widest, each->width_);
  }
  return widest;
}

void IntervalSeries::ForEach(absl::Span<const IntervalSeries* const> series,
                             absl::FunctionRef<void(const View&)> visit) {
  const int64_t width = WidestOf(series);
  // The unvisited part of a series: closed intervals, then open ones.
  struct Rest {
    Intervals::const_iterator at;
    Intervals::const_iterator end;
  };
  std::vector<Rest> rests;
  for (const IntervalSeries* each : series) {
    rests.push_back({each->intervals_.begin(), each->intervals_.end()});
    rests.push_back({each->open_.begin(), each->open_.end()});
  }
  LogHistogram service_time_ns;
  LogHistogram response_time_ns;
  for (;;) {
    int64_t index = kEnd;
    for (const Rest& rest : rests) {
      if (rest.at != rest.end) index = std::min(index, rest.at->first / width);
    }
    if (index == kEnd) return;
    IntervalCounts counts;
    for (Rest& rest : rests) {
      for (; rest.at != rest.end && rest.at->first / width == index;
           ++rest.at) {
        counts.Add(rest.at->second.counts);
        rest.at->second.service_time_ns.AddTo(service_time_ns);
        rest.at->second.response_time_ns.AddTo(response_time_ns);
      }
    }
    for (const IntervalSeries* each : series) {
      if (each->live_step_ == kNever || each->live_step_ / width != index) {
        continue;
      }
      service_time_ns.Merge(each->live_service_time_ns_);
      response_time_ns.Merge(each->live_response_time_ns_);
    }
    visit({index, counts, service_time_ns, response_time_ns});
    service_time_ns.Clear();
    response_time_ns.Clear();
  }
}

}  // namespace distbench::stats
