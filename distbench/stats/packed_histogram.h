// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_STATS_PACKED_HISTOGRAM_H_
#define DISTBENCH_STATS_PACKED_HISTOGRAM_H_

#include <cstdint>
#include <limits>
#include <string>

#include "distbench/stats/log_histogram.h"

namespace distbench::stats {

// A LogHistogram that is no longer recorded into, in little memory: about three
// bytes per non-empty bucket, and none for empty octaves.
class PackedHistogram {
 public:
  PackedHistogram() = default;
  explicit PackedHistogram(const LogHistogram& histogram);

  bool empty() const { return buckets_.empty() && overflow_count_ == 0; }

  // Adds the values of this one to `histogram`.
  void AddTo(LogHistogram& histogram) const;

  // Adds the values of another packed histogram.
  void Merge(const PackedHistogram& other);

  // Memory on the heap.
  int64_t allocated_bytes() const;

 private:
  // Per bucket: the distance to the previous bucket and the count, as varints.
  std::string buckets_;
  uint64_t overflow_count_ = 0;
  int64_t min_ = std::numeric_limits<int64_t>::max();
  int64_t max_ = 0;
  double sum_ = 0;
  double sum_of_squares_ = 0;
};

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_PACKED_HISTOGRAM_H_
