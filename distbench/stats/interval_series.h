// What happened over time: counts and histograms per interval.

#ifndef DISTBENCH_STATS_INTERVAL_SERIES_H_
#define DISTBENCH_STATS_INTERVAL_SERIES_H_

#include <cstdint>
#include <limits>
#include <map>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/packed_histogram.h"

namespace distbench {

// The steps of the series that engines record: those of Unix time.
inline constexpr int64_t kSeriesStepNs = 1'000'000'000;

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

// Steps of time are numbered by the caller, from 0. Close() puts them into
// intervals of width() steps each: interval i has the steps from i * width() on.
// Only intervals in which something happened take memory: some hundred bytes for
// the counts and about three per bucket of the histograms.
//
// The step that is being recorded has histograms that are fast to record into;
// turning to another one costs some microseconds, so values should come mostly
// in order of time. Within a step nothing is allocated, but for a histogram's
// new octaves. Not thread-safe.
class IntervalSeries {
 public:
  // What happened in an interval, without room for more values.
  struct Interval {
    void Merge(const Interval& other);
    int64_t memory_bytes() const;

    IntervalCounts counts;
    PackedHistogram service_time_ns;
    PackedHistogram response_time_ns;
  };

  explicit IntervalSeries(int64_t width = 1) : width_(width) {}

  // The counts of a step: valid until Close().
  IntervalCounts& At(int64_t step) {
    if (step != last_step_) [[unlikely]] {
      Find(step);
    }
    return last_used_->counts;
  }

  // The histograms of a step, to record into: valid until that is done for
  // another one, and until Close().
  LogHistogram& ServiceTimes(int64_t step) {
    MakeLive(step);
    return live_service_time_ns_;
  }
  LogHistogram& ResponseTimes(int64_t step) {
    MakeLive(step);
    return live_response_time_ns_;
  }

  // Puts what was recorded since the last call into its intervals, where it
  // takes less memory, and tells `told` of it, step by step. To be called when a
  // step has passed; later values for it are welcome.
  using Told = absl::FunctionRef<void(int64_t step, const Interval& recorded)>;
  void Close(Told told = [](int64_t, const Interval&) {});

  // Adds to the interval of a step; and what is closed to another series.
  void Add(int64_t step, const Interval& recorded);
  void AddTo(IntervalSeries& series) const;

  // In steps.
  int64_t width() const { return width_; }

  // Makes intervals wider, to a multiple of their width. Those that are there
  // are put together by PutTogether(), little by little: it looks at max_count
  // of them, which takes some microseconds each. Returns whether it has come to
  // the end.
  void Widen(int64_t width);
  bool PutTogether(int max_count);

  // Makes series that are to stay within a budget together wider when they
  // exceed it. To be called often: it does a little at a time, as PutTogether()
  // does. width: what it returned the last time, at first 1; new series are to
  // be as wide.
  static int64_t KeepWithin(int64_t max_bytes, int64_t width,
                            absl::Span<IntervalSeries* const> series);

  // What the intervals take that Close() has made.
  int64_t memory_bytes() const { return memory_bytes_; }

  // An interval as one visits it.
  struct View {
    int64_t index;
    const IntervalCounts& counts;
    const LogHistogram& service_time_ns;
    const LogHistogram& response_time_ns;
  };

  // The width of the widest series; 1 if there is none.
  static int64_t WidestOf(absl::Span<const IntervalSeries* const> series);

  // Visits the intervals, of WidestOf(series) steps, in which anything happened,
  // in ascending order. Several series are added up, which is exact if the
  // widths of all are divisors of that. Sees what is not closed, too.
  static void ForEach(absl::Span<const IntervalSeries* const> series,
                      absl::FunctionRef<void(const View&)> visit);

 private:
  static constexpr int64_t kNever = -1;
  static constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

  // Key: the interval's first step, or a later one if it was narrower when it
  // was made. An interval may be in several pieces until they are put together.
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
  int64_t memory_bytes_ = 0;        // of intervals_
  int64_t to_put_together_ = kEnd;  // from this key on

  Intervals open_;  // steps that are not closed
  int64_t last_step_ = kNever;
  Interval* last_used_ = nullptr;  // of last_step_

  int64_t live_step_ = kNever;
  LogHistogram live_service_time_ns_;
  LogHistogram live_response_time_ns_;
};

// Key: the index of an RPC.
using SeriesByRpc = std::map<int, IntervalSeries>;

}  // namespace distbench

#endif  // DISTBENCH_STATS_INTERVAL_SERIES_H_
