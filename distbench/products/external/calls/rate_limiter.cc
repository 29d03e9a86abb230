#include "distbench/products/external/calls/rate_limiter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace distbench::external {
namespace {

// What events may come early by, so that uneven pacing does not cost rate.
constexpr int64_t kToleranceNs = 10'000'000;

// 71 years: times of the clock and two of these add up without overflow.
constexpr double kMaxIntervalNs = 9e18 / 4;

}  // namespace

RateLimiter::RateLimiter(double per_second)
    : interval_ns_(static_cast<int64_t>(
          std::ceil(std::min(1e9 / per_second, kMaxIntervalNs)))) {}

int64_t RateLimiter::TryPass(int64_t now_ns) {
  const absl::MutexLock lock(&mutex_);
  const int64_t free_ns = next_due_ns_ - kToleranceNs;
  if (now_ns < free_ns) return free_ns;
  next_due_ns_ = std::max(next_due_ns_, now_ns) + interval_ns_;
  return 0;
}

void RateLimiter::TakeBack() {
  const absl::MutexLock lock(&mutex_);
  next_due_ns_ -= interval_ns_;
}

}  // namespace distbench::external
