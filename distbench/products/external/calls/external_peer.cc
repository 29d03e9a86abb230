// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/external_peer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "distbench/base/clock.h"

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

size_t ExternalPeer::Take() {
  size_t position = next_;
  if (uses_least_in_flight_) {
    // Among equals, the one after the last.
    for (size_t i = 1; i < channels_.size(); ++i) {
      const size_t other = (next_ + i) % channels_.size();
      if (in_flight_[other] < in_flight_[position]) position = other;
    }
  }
  next_ = (position + 1) % channels_.size();
  ++in_flight_[position];
  return position;
}

grpc_call* ExternalPeer::MakeCall(size_t position, int rpc_index,
                                  const std::string& method,
                                  grpc_completion_queue* queue,
                                  gpr_timespec deadline) {
  grpc_channel* const channel = channels_[position].get();
  std::vector<void*>& methods = methods_[position];
  if (methods.size() <= rpc_index) methods.resize(rpc_index + 1);
  void*& known = methods[rpc_index];
  if (known == nullptr) {
    known =
        grpc_channel_register_call(channel, method.c_str(), nullptr, nullptr);
  }
  return grpc_channel_create_registered_call(channel, nullptr,
                                             GRPC_PROPAGATE_DEFAULTS, queue,
                                             known, deadline, nullptr);
}

int64_t ExternalPeer::TryPass() {
  if (limiters_.empty()) return 0;
  const int64_t now_ns = base::RealClock().MonotonicNs();
  for (size_t i = 0; i < limiters_.size(); ++i) {
    const int64_t free_ns = limiters_[i]->TryPass(now_ns);
    if (free_ns == 0) continue;
    while (i-- > 0) limiters_[i]->TakeBack();
    if (!std::exchange(is_held_back_, true)) ++held_back_;
    return free_ns;
  }
  is_held_back_ = false;
  return 0;
}

}  // namespace distbench::external
