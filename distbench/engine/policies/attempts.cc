// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/policies/attempts.h"

#include <algorithm>
#include <cmath>

#include "absl/random/distributions.h"
#include "distbench/base/saturating_add.h"

namespace distbench::engine {

CircuitBreaker::Pass CircuitBreaker::Enter(int64_t now_ns) {
  if (!is_open_) return {Pass::Kind::kAllowed, opened_count_};
  if (!MayEnter(now_ns)) return {Pass::Kind::kRefused, opened_count_};
  has_probe_ = true;
  return {Pass::Kind::kProbe, opened_count_};
}

bool CircuitBreaker::OnEnd(int64_t now_ns, Pass pass, AttemptEnd end) {
  if (pass.kind == Pass::Kind::kProbe) return OnProbeEnd(now_ns, end);
  if (pass.opened_before != opened_count_ || end == AttemptEnd::kGivenUp) {
    return false;
  }
  ended_.Add(now_ns);
  if (end == AttemptEnd::kFailed) failed_.Add(now_ns);
  const int64_t ended = ended_.AtMost(now_ns);
  if (ended < policy_.min_attempts() ||
      static_cast<double>(failed_.AtMost(now_ns)) <
          policy_.failure_ratio() * static_cast<double>(ended)) {
    return false;
  }
  Open(now_ns);
  return true;
}

bool CircuitBreaker::OnProbeEnd(int64_t now_ns, AttemptEnd end) {
  has_probe_ = false;
  if (end == AttemptEnd::kFailed) {
    Open(now_ns);
    return true;
  }
  if (end == AttemptEnd::kSucceeded) is_open_ = false;
  return false;
}

void CircuitBreaker::Open(int64_t now_ns) {
  is_open_ = true;
  ++opened_count_;
  half_open_at_ns_ = base::SaturatingAdd(now_ns, policy_.open_ns());
  ended_.Clear();
  failed_.Clear();
}

namespace {

constexpr int64_t kLeastBatch = 10;
constexpr int64_t kMostBatch = 100;
constexpr double kTolerance = 2;
constexpr double kLeastGradient = 0.5;
constexpr double kSmoothing = 0.2;

int64_t ShareOf(int limit, int worker, int worker_count) {
  return std::max<int64_t>(1, ShareOfLimit(limit, worker, worker_count));
}

}  // namespace

ConcurrencyLimit::ConcurrencyLimit(const ConcurrencyLimitPolicy& policy,
                                   int worker, int worker_count)
    : is_aimd_(policy.kind() == "aimd"),
      is_gradient_(policy.kind() == "gradient"),
      backoff_ratio_(policy.backoff_ratio()),
      all_shares_(std::max(policy.limit(), worker_count)),
      first_share_(ShareOf(policy.limit(), worker, worker_count)),
      least_(ShareOf(policy.min_limit(), worker, worker_count)),
      most_(ShareOf(policy.max_limit(), worker, worker_count)),
      limit_(first_share_) {}

void ConcurrencyLimit::OnEnd(AttemptEnd end, int64_t time_ns) {
  const bool is_used = 2 * in_flight_ >= limit();
  --in_flight_;
  if (!is_aimd_ && !is_gradient_) return;
  if (end == AttemptEnd::kSucceeded) OnSuccess(time_ns, is_used);
  if (sent_before_ > 0) {
    --sent_before_;
  } else if (end == AttemptEnd::kFailed) {
    OnFailure();
    sent_before_ = in_flight_;
  }
}

void ConcurrencyLimit::OnSuccess(int64_t time_ns, bool is_used) {
  if (is_aimd_) {
    if (is_used) limit_ += 1 / limit_;
    Clamp();
    return;
  }
  batch_ns_ += static_cast<double>(time_ns);
  if (++batch_count_ >= std::clamp(limit(), kLeastBatch, kMostBatch)) {
    EndBatch(is_used);
  }
}

void ConcurrencyLimit::OnFailure() {
  if (is_aimd_) {
    limit_ *= backoff_ratio_;
    Clamp();
  } else {
    MoveTo(limit_ * kLeastGradient);
  }
}

void ConcurrencyLimit::EndBatch(bool is_used) {
  // A time of 0 is possible where clocks are coarse.
  const double recent_ns =
      std::max(1.0, batch_ns_ / static_cast<double>(batch_count_));
  batch_ns_ = 0;
  batch_count_ = 0;
  least_ns_ = std::min(least_ns_, recent_ns);
  const double gradient =
      std::clamp(kTolerance * least_ns_ / recent_ns, kLeastGradient, 1.0);
  const double next = limit_ * gradient + std::sqrt(limit_);
  if (is_used || next < limit_) MoveTo(next);
}

void ConcurrencyLimit::MoveTo(double next) {
  limit_ = next < limit_ ? limit_ + kSmoothing * (next - limit_) : next;
  Clamp();
}

void ConcurrencyLimit::Clamp() { limit_ = std::clamp(limit_, least_, most_); }

int64_t BackoffNs(const RetryPolicy& policy, int retry,
                  absl::BitGenRef random) {
  const double grown_ns = static_cast<double>(policy.initial_backoff_ns()) *
                          std::pow(policy.multiplier(), retry - 1);
  const int64_t most_ns = policy.max_backoff_ns();
  // The comparison also holds for an infinite pause.
  const int64_t pause_ns = grown_ns < static_cast<double>(most_ns)
                               ? std::llround(grown_ns)
                               : most_ns;
  if (policy.jitter() == "none") return pause_ns;
  const int64_t least_ns = policy.jitter() == "equal" ? pause_ns / 2 : 0;
  return absl::Uniform(absl::IntervalClosed, random, least_ns, pause_ns);
}

}  // namespace distbench::engine
