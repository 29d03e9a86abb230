// When the next attempt of an RPC follows: backoff of retries, delay of
// hedges.

#ifndef DISTBENCH_ENGINE_POLICIES_ATTEMPT_TIMES_H_
#define DISTBENCH_ENGINE_POLICIES_ATTEMPT_TIMES_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/random/bit_gen_ref.h"
#include "distbench/stats/log_histogram.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {

// Returns the pause before a retry; the first one is number 1. The kinds of
// jitter are those of Marc Brooker, "Exponential Backoff And Jitter", AWS
// Architecture Blog, 2015.
int64_t BackoffNs(const RetryPolicy& policy, int retry, absl::BitGenRef random);

// The time after which a hedge follows: fixed, or a percentile of the times of
// requests' first attempts so far. An attempt that is given up counts with the
// time until then. Without those, and with the hedges that won instead, a delay
// would leave out what is longer than itself, and so become shorter and
// shorter. With them, the percentile is the share of the requests that need no
// hedge.
//
// The percentile is computed again when the number of times has grown by a
// thirty-second, so that this costs little per attempt.
class HedgeDelay {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kFirstTimes = 100;

  explicit HedgeDelay(const HedgingPolicy& policy)
      : quantile_(policy.percentile() / 100),
        next_count_(kFirstTimes),
        delay_ns_(policy.has_percentile() ? kNever : policy.delay_ns()) {}

  // The first attempt of a request succeeded, or was given up, after this time.
  void OnFirstEnd(int64_t time_ns) {
    if (quantile_ == 0) return;
    times_ns_.Record(time_ns);
    const auto count = static_cast<int64_t>(times_ns_.count());
    if (count < next_count_) return;
    delay_ns_ = times_ns_.ValueAtQuantile(quantile_);
    next_count_ = count + std::max<int64_t>(1, count / 32);
  }

  // kNever until enough times are known.
  int64_t delay_ns() const { return delay_ns_; }

 private:
  const double quantile_;  // 0: fixed
  int64_t next_count_;     // of times, when to compute the percentile again
  int64_t delay_ns_;
  stats::LogHistogram times_ns_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_POLICIES_ATTEMPT_TIMES_H_
