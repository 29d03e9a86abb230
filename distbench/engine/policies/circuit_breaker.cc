#include "distbench/engine/policies/circuit_breaker.h"

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
  if (ended < plan_.min_attempts ||
      static_cast<double>(failed_.AtMost(now_ns)) <
          plan_.failure_ratio * static_cast<double>(ended)) {
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
  half_open_at_ns_ = base::SaturatingAdd(now_ns, plan_.open_ns);
  ended_.Clear();
  failed_.Clear();
}

}  // namespace distbench::engine
