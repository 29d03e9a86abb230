#ifndef DISTBENCH_ENGINE_POLICIES_CIRCUIT_BREAKER_H_
#define DISTBENCH_ENGINE_POLICIES_CIRCUIT_BREAKER_H_

#include <cstdint>

#include "distbench/config/plan/policy_plan.h"
#include "distbench/engine/policies/sliding_count.h"

namespace distbench::engine {

// How an attempt ended, for policies that learn from it. One that the caller
// gave up says nothing, unless it was answered nevertheless.
enum class AttemptEnd { kSucceeded, kFailed, kGivenUp };

// Refuses attempts to one server while that fails:
//
//   closed ──failures──▶ open ──time──▶ half open ──success──▶ closed
//                          ▲                │
//                          └────failure─────┘
//
// Half open, it lets one attempt at a time through, the probe. Attempts that
// were sent before it opened say nothing from then on, not even once it is
// closed again.
class CircuitBreaker {
 public:
  struct Pass {
    enum class Kind { kRefused, kAllowed, kProbe };

    Kind kind = Kind::kAllowed;
    int64_t opened_before = 0;  // how often it had opened
  };

  explicit CircuitBreaker(const config::CircuitBreakerPlan& plan)
      : plan_(plan), ended_(plan.window_ns), failed_(plan.window_ns) {}

  // Whether Enter() would not refuse an attempt.
  bool MayEnter(int64_t now_ns) const {
    return !is_open_ || (!has_probe_ && now_ns >= half_open_at_ns_);
  }

  // An attempt is to be sent; unless it is refused, OnEnd() follows with what
  // this returned.
  Pass Enter(int64_t now_ns);

  // Returns whether this has opened the circuit breaker.
  bool OnEnd(int64_t now_ns, Pass pass, AttemptEnd end);

 private:
  bool OnProbeEnd(int64_t now_ns, AttemptEnd end);
  void Open(int64_t now_ns);

  config::CircuitBreakerPlan plan_;
  bool is_open_ = false;  // or half open
  bool has_probe_ = false;
  int64_t opened_count_ = 0;
  int64_t half_open_at_ns_ = 0;
  SlidingCount ended_;
  SlidingCount failed_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_POLICIES_CIRCUIT_BREAKER_H_
