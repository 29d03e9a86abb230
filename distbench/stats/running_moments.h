#ifndef DISTBENCH_STATS_RUNNING_MOMENTS_H_
#define DISTBENCH_STATS_RUNNING_MOMENTS_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "distbench/stats/log_histogram.h"

namespace distbench::stats {

// Exact extremes and moments of non-negative values: a histogram without its
// buckets.
struct RunningMoments {
  RunningMoments() = default;
  explicit RunningMoments(const LogHistogram& histogram)
      : count(static_cast<int64_t>(histogram.count())) {
    if (count == 0) return;
    min = histogram.min();
    max = histogram.max();
    sum = histogram.sum();
    sum_of_squares = histogram.sum_of_squares();
  }

  // Same as LogHistogram::RecordEach(): negative values count as 0.
  template <typename Items, typename ValueOf>
  void RecordEach(const Items& items, const ValueOf& value_of) {
    for (const auto& item : items) {
      const int64_t value = std::max<int64_t>(value_of(item), 0);
      min = std::min(min, value);
      max = std::max(max, value);
      sum += static_cast<double>(value);
      sum_of_squares += static_cast<double>(value) * static_cast<double>(value);
    }
    count += static_cast<int64_t>(items.size());
  }

  void Merge(const RunningMoments& other) {
    count += other.count;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
    sum += other.sum;
    sum_of_squares += other.sum_of_squares;
  }

  int64_t count = 0;
  int64_t min = std::numeric_limits<int64_t>::max();  // if empty
  int64_t max = 0;
  double sum = 0;
  double sum_of_squares = 0;
};

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_RUNNING_MOMENTS_H_
