// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Policies of callers (CallPolicy in traffic_config.proto), for any driver. An
// RPC with a policy is one *request*, an RpcCall like others, which is never
// handed to the transport. Its *attempts* are calls of their own:
//
//   RpcSender::Send ▸ Policies::Open            a request
//     Send: choose a server, pass its circuit   refused: the request fails
//       breaker and the concurrency limit         at the next turn
//     RpcSender::Submit                         an attempt, perhaps queued
//   OnDue: the pause before a retry is over, or a hedge is due ▸ Send
//   OnDone: an attempt has ended
//     succeeded ▸ End                           the others are abandoned
//     failed ▸ TryAgain: within max_attempts, deadline and budget, pause, or
//       Send at once; else, if no attempt is left ▸ End
//   End ▸ RpcSender::OnDone, which records the request as it does any RPC: from
//     its intended send to its outcome, at the server of that outcome
//
// A request begins when its first attempt is sent. If that was refused, or
// still waits for a send queue when another one follows, it began when it was
// opened: its caller waited since then.
//
// A request ends once, and does not wait for the attempts that it abandons:
// these are cancelled or, where the stack cannot, end when they are answered.
// Until then they keep the request's object, but neither its RpcCall nor its
// iteration, which others may have by then.
//
// With a quorum, the requests of an iteration form a *group*, which ends the
// iteration in place of RpcSender. The requests that are left get the group's
// stand-in for their iteration; they are cancelled, or end as they end.
//
// Deadlines are the driver's: an attempt has the earlier one of its own and the
// request's. Once their traffic stops, requests send no further attempts, and
// those that pause end with their last failure.
//
// All state belongs to a worker, so nothing is locked. The decisions are those
// of engine/policies.

#ifndef DISTBENCH_ENGINE_WORKER_POLICIES_H_
#define DISTBENCH_ENGINE_WORKER_POLICIES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/object_pool.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/pacing/timer_queue.h"
#include "distbench/engine/policies/attempts.h"
#include "distbench/engine/policies/balancer.h"
#include "distbench/engine/routes/engine_state.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench::engine {

// The state of RPCs with a policy, on one worker. Objects come from pools and
// are reset when they are taken. Private to Policies.

// What one worker knows about an RPC with a policy, across its requests.
struct RpcPolicy {
  RpcPolicy(EngineState& engine, int worker, int index);

  const int index;
  const config::PolicyPlan& plan;
  RpcTargets& targets;
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

class RpcSender;
class Scheduler;

class Policies {
 public:
  // All arguments must outlive this. Uses the last two only later.
  Policies(WorkerContext& context, RpcSender& sender, Scheduler& scheduler);
  ~Policies();

  // Takes over an RPC that has a policy. Does not end it before this returns.
  void Open(RpcCall& call);

  // An attempt has ended.
  void OnDone(RpcCall& call);

  // A timer of kind kPolicy is due, or its traffic stops.
  void OnDue(Timer& timer);

  // Attempts that the transport has, or that wait for its send queue; and those
  // among them whose requests have ended.
  int64_t attempts_in_flight() const { return attempts_in_flight_; }
  int64_t abandoned() const { return abandoned_; }

 private:
  struct Target {
    int server = Balancer::kNoServer;  // candidate of the fanout, if balanced
    int route = config::kNone;
  };

  void Join(Request& request);
  void Send(Request& request, Attempt::Kind kind);
  Target ChooseTarget(Request& request);
  void Refuse(Request& request, absl::string_view error);
  void Start(Request& request, Target target, Attempt::Kind kind,
             CircuitBreaker::Pass pass);
  void CountSent(Attempt& attempt, int64_t time_ns);
  void ArmHedge(Request& request);
  static bool IsInTime(const Request& request, int64_t time_ns);
  void Wait(Request& request, Request::Next next, int64_t due_ns);

  void Close(Attempt& attempt);
  void Learn(Attempt& attempt, AttemptEnd end);
  static void LearnHedgeDelay(const Attempt& attempt, int64_t end_ns);
  void CountEnd(const Attempt& attempt, AttemptEnd end);
  static void TakeOutcome(Request& request, const Attempt& attempt);
  static void NoteSent(Request& request, int64_t sent_ns);
  static void NoteSent(Request& request);
  void AfterFailure(Request& request, bool own_refusal);
  bool TryAgain(Request& request, bool own_refusal);
  bool TakeFromBudget(Request& request);

  void End(Request& request);
  void Abandon(Request& request);
  void EndRpc(Request& request, RpcCall& call);
  void EndInGroup(Request& request, RpcCall& call);
  void CloseGroup(RequestGroup& group, const RpcPolicy& rpc);

  bool IsStopped(const Request& request) const {
    return context_.engine.IsStopped(request.own_traffic);
  }

  // Null for a request of the warm-up, whose attempts are not counted.
  results::TallyOf<PolicyStatistics>* TotalsOf(const Request& request) {
    return request.warmup ? nullptr
                          : &context_.recorder.PolicyOf(request.rpc->index);
  }
  // `count`: the number of a field of PolicyStatistics.
  void Count(const Request& request, int count) {
    if (!request.warmup) ++TotalsOf(request)->count(count);
  }

  WorkerContext& context_;
  RpcSender& sender_;
  Scheduler& scheduler_;
  std::vector<std::unique_ptr<RpcPolicy>> rpcs_;  // null without a policy
  base::ObjectPool<Request> requests_;
  base::ObjectPool<Attempt> attempts_;
  base::ObjectPool<RequestGroup> groups_;
  int64_t attempts_in_flight_ = 0;
  int64_t abandoned_ = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_POLICIES_H_
