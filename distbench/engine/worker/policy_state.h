// The state of RPCs with a policy, on one worker. Objects come from pools and
// are reset when they are taken. Private to Policies.

#ifndef DISTBENCH_ENGINE_WORKER_POLICY_STATE_H_
#define DISTBENCH_ENGINE_WORKER_POLICY_STATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distbench/config/plan/plan.h"
#include "distbench/engine/pacing/timer_queue.h"
#include "distbench/engine/policies/attempt_budget.h"
#include "distbench/engine/policies/balancer.h"
#include "distbench/engine/policies/circuit_breaker.h"
#include "distbench/engine/policies/concurrency_limit.h"
#include "distbench/engine/policies/hedge_delay.h"
#include "distbench/engine/routes/engine_state.h"
#include "distbench/engine/worker/run_state.h"

namespace distbench::engine {

// What one worker knows about an RPC with a policy, across its requests.
struct RpcPolicy {
  RpcPolicy(EngineState& engine, int worker, int index);

  const int index;
  const config::PolicyPlan& plan;
  RpcTargets& targets;
  const int max_attempts;
  std::optional<Balancer> balancer;
  std::vector<CircuitBreaker> breakers;  // by route; empty: none
  std::optional<ConcurrencyLimit> limit;
  std::optional<AttemptBudget> budget;
  std::optional<HedgeDelay> hedge_delay;
};

struct Attempt;
struct RequestGroup;

struct Request {
  // What the timer is for.
  enum class Next : uint8_t { kRetry, kHedge, kEndRefused };

  RpcPolicy* rpc = nullptr;
  RpcCall* call = nullptr;  // null once the request has ended
  RequestGroup* group = nullptr;
  size_t position = 0;  // in the group
  Timer timer;
  Next next = Next::kRetry;
  bool warmup = false;
  bool own_traffic = false;
  bool is_sent = false;  // or was refused; not: only waited for send queues
  bool won_by_hedge = false;
  int tries = 0;  // attempts, those that were refused included
  int64_t opened_ns = 0;
  int64_t sent_ns = 0;             // when it began; 0: not known yet
  std::vector<Attempt*> attempts;  // in flight
  std::vector<int> tried;          // servers, if balanced
  std::string trace_context;       // of all attempts
  std::string error;               // of the last failure
};

struct Attempt {
  enum class Kind : uint8_t { kFirst, kRetry, kHedge };

  Attempt() { call.kind = RpcCall::Kind::kAttempt; }

  RpcCall call;  // must be first
  Request* request = nullptr;
  int server = Balancer::kNoServer;
  Kind kind = Kind::kFirst;
  bool is_counted = false;  // among the attempts
  CircuitBreaker::Pass pass;

  // Returns the attempt that contains `call`, whose kind must be kAttempt.
  static Attempt& Of(RpcCall& call);
};

static_assert(offsetof(Attempt, call) == 0);
inline Attempt& Attempt::Of(RpcCall& call) {
  return reinterpret_cast<Attempt&>(call);
}

// The requests of an iteration with a quorum.
struct RequestGroup {
  Iteration* iteration = nullptr;  // null once it has ended
  Iteration stand_in;              // for those requests that end later
  bool keeps_samples = false;      // of those
  int64_t start_ns = 0;
  int targets = 0;
  int succeeded = 0;
  int failed = 0;
  std::vector<Request*> open;  // not ended; each knows its position
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_POLICY_STATE_H_
