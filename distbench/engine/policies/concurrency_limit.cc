#include "distbench/engine/policies/concurrency_limit.h"

#include <algorithm>
#include <cmath>

namespace distbench::engine {
namespace {

constexpr int64_t kLeastBatch = 10;
constexpr int64_t kMostBatch = 100;
constexpr double kTolerance = 2;
constexpr double kLeastGradient = 0.5;
constexpr double kSmoothing = 0.2;

int ShareOfLimit(int limit, int worker, int worker_count) {
  return std::max(
      1, limit / worker_count + (worker < limit % worker_count ? 1 : 0));
}

}  // namespace

ConcurrencyLimit::ConcurrencyLimit(const config::ConcurrencyLimitPlan& plan,
                                   int worker, int worker_count)
    : all_shares_(std::max(plan.limit, worker_count)), plan_(plan) {
  for (int* limit : {&plan_.limit, &plan_.min_limit, &plan_.max_limit}) {
    *limit = ShareOfLimit(*limit, worker, worker_count);
  }
  limit_ = plan_.limit;
}

void ConcurrencyLimit::OnEnd(AttemptEnd end, int64_t time_ns) {
  const bool is_used = 2 * in_flight_ >= limit();
  --in_flight_;
  if (plan_.kind == config::ConcurrencyLimitPlan::Kind::kFixed) return;
  if (end == AttemptEnd::kSucceeded) OnSuccess(time_ns, is_used);
  if (sent_before_ > 0) {
    --sent_before_;
  } else if (end == AttemptEnd::kFailed) {
    OnFailure();
    sent_before_ = in_flight_;
  }
}

void ConcurrencyLimit::OnSuccess(int64_t time_ns, bool is_used) {
  if (plan_.kind == config::ConcurrencyLimitPlan::Kind::kAimd) {
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
  if (plan_.kind == config::ConcurrencyLimitPlan::Kind::kAimd) {
    limit_ *= plan_.backoff_ratio;
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

void ConcurrencyLimit::Clamp() {
  limit_ = std::clamp(limit_, static_cast<double>(plan_.min_limit),
                      static_cast<double>(plan_.max_limit));
}

}  // namespace distbench::engine
