#ifndef DISTBENCH_STATS_RECENT_TIMES_H_
#define DISTBENCH_STATS_RECENT_TIMES_H_

#include <atomic>
#include <memory>

#include "distbench/stats/log_histogram.h"

namespace distbench {

// What one thread has measured lately, for another one that shows it. One
// writer, one reader at a time; neither ever waits for the other.
class RecentTimes {
 public:
  struct Times {
    LogHistogram service_time_ns;
    LogHistogram response_time_ns;
  };

  RecentTimes() = default;
  ~RecentTimes() { delete times_.load(); }
  RecentTimes(const RecentTimes&) = delete;
  RecentTimes& operator=(const RecentTimes&) = delete;

  // Adds to what the reader has not taken yet.
  void Publish(const LogHistogram& service_time_ns,
               const LogHistogram& response_time_ns) {
    std::unique_ptr<Times> times(times_.exchange(nullptr));
    if (times == nullptr) times = std::make_unique<Times>();
    times->service_time_ns.Merge(service_time_ns);
    times->response_time_ns.Merge(response_time_ns);
    times_.store(times.release());
  }

  // Null if there is nothing new; or, rarely, if the writer is busy with it:
  // then it comes with the next call.
  std::unique_ptr<Times> Take() {
    return std::unique_ptr<Times>(times_.exchange(nullptr));
  }

 private:
  std::atomic<Times*> times_ = nullptr;
};

}  // namespace distbench

#endif  // DISTBENCH_STATS_RECENT_TIMES_H_
