// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_STATS_RECENT_INTERVALS_H_
#define DISTBENCH_STATS_RECENT_INTERVALS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "distbench/stats/interval_series.h"

namespace distbench::stats {

// Passes recent measurements from one thread to another that shows or keeps
// them. One writer, and one reader at a time; neither ever waits for the other.
class RecentIntervals {
 public:
  // The additions to one step of an RPC's series.
  struct Part {
    int rpc;
    int64_t step;
    IntervalSeries::Interval interval;
  };
  using Parts = std::vector<Part>;

  RecentIntervals() = default;
  ~RecentIntervals() { delete parts_.load(); }
  RecentIntervals(const RecentIntervals&) = delete;
  RecentIntervals& operator=(const RecentIntervals&) = delete;

  // Adds to what the reader has not taken yet. If that becomes much, because
  // there is no reader, the parts of each RPC are merged into one, at its last
  // step.
  void Publish(Parts parts);

  // Null if there is nothing new or, rarely, if the writer is busy with it; the
  // next call then returns it.
  std::unique_ptr<Parts> Take() {
    return std::unique_ptr<Parts>(parts_.exchange(nullptr));
  }

 private:
  std::atomic<Parts*> parts_ = nullptr;
};

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_RECENT_INTERVALS_H_
