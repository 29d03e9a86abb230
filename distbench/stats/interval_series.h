// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Counts and histograms per interval of time.

#ifndef DISTBENCH_STATS_INTERVAL_SERIES_H_
#define DISTBENCH_STATS_INTERVAL_SERIES_H_

#include <cstdint>
#include <limits>
#include <map>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/packed_histogram.h"

namespace distbench::stats {

// The step of the series that engines record: a second of Unix time.
inline constexpr int64_t kSeriesStepNs = 1'000'000'000;

// The number of events within one interval, and the bytes that they moved.
struct IntervalCounts {
  void Add(const IntervalCounts& other);

  int64_t offered = 0;
  int64_t sent = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
  int64_t warmup = 0;
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
  int64_t attempts = 0;  // of RPCs with a policy
};

// Time is divided into steps, which the caller numbers from 0. Close() puts
// steps into intervals of width() steps each: interval i begins at step i *
// width(). Only intervals with events take memory: a few hundred bytes for the
// counts and about three bytes per bucket of the histograms.
//
// The current step has histograms that are fast to record into. Changing to
// another step costs a few microseconds, so values should arrive mostly in
// order of time. Within a step nothing is allocated, except for new octaves of
// a histogram. Not thread-safe.
class IntervalSeries {
 public:
  // The contents of an interval, packed, without room for more values.
  struct Interval {
    void Merge(const Interval& other);
    int64_t memory_bytes() const;

    IntervalCounts counts;
    PackedHistogram service_time_ns;
    PackedHistogram response_time_ns;
  };

  explicit IntervalSeries(int64_t width = 1) : width_(width) {}

  // Returns the counts of a step, valid until Close().
  IntervalCounts& At(int64_t step) {
    if (step != last_step_) [[unlikely]] {
      Find(step);
    }
    return last_used_->counts;
  }

  // Return the histograms of a step to record into, valid until those of
  // another step are asked for, and until Close().
  LogHistogram& ServiceTimes(int64_t step) {
    MakeLive(step);
    return live_service_time_ns_;
  }
  LogHistogram& ResponseTimes(int64_t step) {
    MakeLive(step);
    return live_response_time_ns_;
  }

  // Moves what was recorded since the last call into its intervals, where it
  // takes less memory, and passes it to `told`, step by step. Call this when a
  // step has passed; later values for that step are still accepted.
  using Told = absl::FunctionRef<void(int64_t step, const Interval& recorded)>;
  void Close(Told told = [](int64_t, const Interval&) {});

  // Add(): adds to the interval of a step. AddTo(): adds all closed intervals
  // to another series.
  void Add(int64_t step, const Interval& recorded);
  void AddTo(IntervalSeries& series) const;

  // In steps.
  int64_t width() const { return width_; }

  // Widens intervals to a multiple of their width. PutTogether() then merges
  // existing intervals in small steps: it visits max_count of them, each of
  // which takes a few microseconds, and returns whether it has reached the end.
  void Widen(int64_t width);
  bool PutTogether(int max_count);

  // Widens the intervals of series that share a budget when they exceed it.
  // Call this often: it does a little at a time, like PutTogether(). width: the
  // previous return value, at first 1; new series must have this width too.
  static int64_t KeepWithin(int64_t max_bytes, int64_t width,
                            absl::Span<IntervalSeries* const> series);

  // The memory of the intervals that Close() has made.
  int64_t memory_bytes() const { return memory_bytes_; }

  // An interval as ForEach() shows it.
  struct View {
    int64_t index;
    const IntervalCounts& counts;
    const LogHistogram& service_time_ns;
    const LogHistogram& response_time_ns;
  };

  // Returns the width of the widest series; 1 if there are none.
  static int64_t WidestOf(absl::Span<const IntervalSeries* const> series);

  // Visits the intervals that have events, each WidestOf(series) steps wide, in
  // ascending order. Several series are added up; this is exact if all their
  // widths divide that width. Includes steps that are not closed.
  static void ForEach(absl::Span<const IntervalSeries* const> series,
                      absl::FunctionRef<void(const View&)> visit);

 private:
  static constexpr int64_t kNever = -1;
  static constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

  // Key: the interval's first step, or a later one if the interval was narrower
  // when it was made. Until they are merged, an interval may consist of several
  // pieces.
  using Intervals = std::map<int64_t, Interval>;

  void MakeLive(int64_t step) {
    if (step != live_step_) [[unlikely]] {
      TurnTo(step);
    }
  }
  void Find(int64_t step);
  void TurnTo(int64_t step);
  void PackLive();
  Interval& IntervalOf(int64_t step);

  int64_t width_;
  Intervals intervals_;
  int64_t memory_bytes_ = 0;        // memory of intervals_
  int64_t to_put_together_ = kEnd;  // from this key on

  Intervals open_;  // steps that are not closed yet
  int64_t last_step_ = kNever;
  Interval* last_used_ = nullptr;  // the interval of last_step_

  int64_t live_step_ = kNever;
  LogHistogram live_service_time_ns_;
  LogHistogram live_response_time_ns_;
};

// Key: the index of an RPC.
using SeriesByRpc = std::map<int, IntervalSeries>;

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_INTERVAL_SERIES_H_
