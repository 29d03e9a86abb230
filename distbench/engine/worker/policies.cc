// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/policies.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"
#include "distbench/base/saturating_add.h"
#include "distbench/engine/worker/rpc_sender.h"
#include "distbench/engine/worker/scheduler.h"

namespace distbench::engine {
namespace {

constexpr absl::string_view kLimitError =
    "RESOURCE_EXHAUSTED: the caller's concurrency limit is reached";
constexpr absl::string_view kCircuitBreakerError =
    "UNAVAILABLE: the caller's circuit breaker is open";

// A call's deadline of 0 is none.
int64_t EarlierDeadline(int64_t request_ns, int64_t attempt_ns) {
  if (attempt_ns == std::numeric_limits<int64_t>::max()) return request_ns;
  return request_ns == 0 ? attempt_ns : std::min(request_ns, attempt_ns);
}

}  // namespace

RpcPolicy::RpcPolicy(EngineState& engine, int worker, int rpc_index)
    : index(rpc_index),
      plan(*engine.plan().rpcs[rpc_index].policy),
      targets(engine.targets(rpc_index)) {
  if (plan.load_balancing.has_value()) {
    balancer.emplace(*plan.load_balancing,
                     static_cast<int>(targets.routes.size()),
                     engine.instance_plan().number + worker);
  }
  const CallPolicy& policy = plan.policy;
  if (policy.has_circuit_breaker()) {
    breakers.assign(engine.routes().count(),
                    CircuitBreaker(policy.circuit_breaker()));
  }
  if (policy.has_concurrency_limit()) {
    limit.emplace(policy.concurrency_limit(), worker, engine.worker_count());
  }
  if (plan.budget.has_value()) {
    budget.emplace(*plan.budget, engine.worker_count());
  }
  if (policy.has_hedging()) hedge_delay.emplace(policy.hedging());
}

Policies::Policies(WorkerContext& context, RpcSender& sender,
                   Scheduler& scheduler)
    : context_(context), sender_(sender), scheduler_(scheduler) {
  EngineState& engine = context.engine;
  const std::vector<config::RpcPlan>& rpcs = engine.plan().rpcs;
  for (size_t i = 0; i < rpcs.size(); ++i) {
    const auto rpc = static_cast<int>(i);
    const bool is_needed =
        rpcs[i].policy.has_value() && engine.targets(rpc).fanout != nullptr;
    rpcs_.push_back(
        is_needed ? std::make_unique<RpcPolicy>(engine, context.worker, rpc)
                  : nullptr);
  }
}

Policies::~Policies() = default;

void Policies::Open(RpcCall& call) {
  Request& request = *requests_.Get();
  const ListRun& list = *call.iteration->action->list;
  request.rpc = rpcs_[call.client.rpc_index].get();
  request.call = &call;
  request.group = nullptr;
  SetUpTimer(request.timer, Timer::Kind::kPolicy, list, &request);
  request.warmup = call.client.warmup;
  request.own_traffic = list.own_traffic;
  request.is_sent = request.won_by_hedge = false;
  request.tries = 0;
  request.opened_ns = context_.now_ns;
  request.sent_ns = 0;
  request.tried.clear();
  request.trace_context.assign(call.client.trace_context.data(),
                               call.client.trace_context.size());
  request.error.clear();
  if (request.rpc->plan.policy.has_quorum()) Join(request);
  if (request.rpc->budget.has_value()) {
    request.rpc->budget->OnRequest(context_.now_ns);
  }
  Send(request, Attempt::Kind::kFirst);
  ArmHedge(request);
}

// Makes the request a member of its iteration's group.
void Policies::Join(Request& request) {
  Iteration& iteration = *request.call->iteration;
  if (iteration.group == nullptr) {
    RequestGroup& group = *groups_.Get();
    iteration.group = &group;
    group.iteration = &iteration;
    group.stand_in.warmup = iteration.warmup;
    group.start_ns =
        iteration.intended_ns != 0 ? iteration.intended_ns : context_.now_ns;
    group.targets = iteration.outstanding;
    group.succeeded = group.failed = 0;
  }
  request.group = iteration.group;
  request.position = request.group->open.size();
  request.group->open.push_back(&request);
}

void Policies::Send(Request& request, Attempt::Kind kind) {
  RpcPolicy& rpc = *request.rpc;
  ++request.tries;
  if (rpc.limit.has_value() && !rpc.limit->has_room()) {
    Count(request, PolicyStatistics::kRefusedByLimitCountFieldNumber);
    Refuse(request, kLimitError);
    return;
  }
  const Target target = ChooseTarget(request);
  using Pass = CircuitBreaker::Pass;
  Pass pass;
  if (target.route == config::kNone) {
    pass.kind = Pass::Kind::kRefused;
  } else if (!rpc.breakers.empty()) {
    pass = rpc.breakers[target.route].Enter(context_.now_ns);
  }
  if (pass.kind == Pass::Kind::kRefused) {
    Count(request, PolicyStatistics::kRefusedByCircuitBreakerCountFieldNumber);
    Refuse(request, kCircuitBreakerError);
    return;
  }
  Start(request, target, kind, pass);
}

// Prefers servers that were not tried, and avoids those whose circuit breaker
// would refuse the attempt.
Policies::Target Policies::ChooseTarget(Request& request) {
  RpcPolicy& rpc = *request.rpc;
  if (!rpc.balancer.has_value()) return {.route = request.call->client.peer};
  const std::vector<int>& routes = rpc.targets.routes;
  const auto may_enter = [&](int server) {
    return rpc.breakers.empty() ||
           rpc.breakers[routes[server]].MayEnter(context_.now_ns);
  };
  const auto is_new = [&](int server) {
    return std::count(request.tried.begin(), request.tried.end(), server) == 0;
  };
  int server = rpc.balancer->Choose(
      [&](int server) { return is_new(server) && may_enter(server); },
      context_.random);
  if (server == Balancer::kNoServer && !request.tried.empty()) {
    server = rpc.balancer->Choose(may_enter, context_.random);
  }
  if (server == Balancer::kNoServer) return {};
  return {.server = server, .route = routes[server]};
}

// Lets the request fail at the next turn, because Open() must not end it,
// unless another attempt may still succeed.
void Policies::Refuse(Request& request, absl::string_view error) {
  if (!request.attempts.empty()) return;
  request.is_sent = true;
  if (request.sent_ns == 0) request.sent_ns = request.opened_ns;
  protocol::ClientCall& client = request.call->client;
  client.sent_bytes = client.received_bytes = 0;
  client.responding_instance = protocol::kNoInstance;
  client.done_ns = context_.now_ns;
  request.error.assign(error.data(), error.size());
  Wait(request, Request::Next::kEndRefused, context_.now_ns);
}

void Policies::Start(Request& request, Target target, Attempt::Kind kind,
                     CircuitBreaker::Pass pass) {
  RpcPolicy& rpc = *request.rpc;
  if (kind != Attempt::Kind::kFirst) {
    NoteSent(request);
    if (request.sent_ns == 0) request.sent_ns = request.opened_ns;
  }
  Attempt& attempt = *attempts_.Get();
  attempt.request = &request;
  attempt.server = target.server;
  attempt.kind = kind;
  attempt.pass = pass;
  attempt.call.sent = true;
  protocol::ClientCall& client = attempt.call.client;
  client = request.call->client;
  client.peer = target.route;
  client.deadline_ns = EarlierDeadline(
      client.deadline_ns,
      base::SaturatingAdd(context_.now_ns, rpc.plan.attempt_deadline_ns));
  client.trace_context = request.trace_context;
  client.sent_ns = 0;
  client.error = {};
  if (target.server != Balancer::kNoServer) {
    client.server_instance = rpc.targets.fanout->candidates()[target.server];
    rpc.balancer->OnStart(target.server);
    request.tried.push_back(target.server);
  }
  if (rpc.limit.has_value()) rpc.limit->OnStart();
  request.attempts.push_back(&attempt);
  ++attempts_in_flight_;
  sender_.Submit(&attempt.call);
  // One that waits for its send queue may never be sent.
  attempt.is_counted = false;
  if (!attempt.call.waits) CountSent(attempt, context_.now_ns);
}

void Policies::CountSent(Attempt& attempt, int64_t time_ns) {
  attempt.is_counted = true;
  const Request& request = *attempt.request;
  context_.recorder.CountAttempt(request.rpc->index, time_ns);
  Count(request, PolicyStatistics::kAttemptCountFieldNumber);
  if (attempt.kind == Attempt::Kind::kRetry) {
    Count(request, PolicyStatistics::kRetryCountFieldNumber);
  } else if (attempt.kind == Attempt::Kind::kHedge) {
    Count(request, PolicyStatistics::kHedgeCountFieldNumber);
  }
}

void Policies::ArmHedge(Request& request) {
  RpcPolicy& rpc = *request.rpc;
  if (!rpc.hedge_delay.has_value() || request.attempts.empty() ||
      request.timer.armed() || request.tries >= rpc.plan.max_attempts) {
    return;
  }
  const int64_t delay_ns = rpc.hedge_delay->delay_ns();
  if (delay_ns == HedgeDelay::kNever) return;
  const int64_t due_ns = base::SaturatingAdd(context_.now_ns, delay_ns);
  if (!IsInTime(request, due_ns)) return;
  Wait(request, Request::Next::kHedge, due_ns);
}

void Policies::Wait(Request& request, Request::Next next, int64_t due_ns) {
  request.next = next;
  context_.timers.Arm(request.timer, due_ns);
}

void Policies::OnDue(Timer& timer) {
  Request& request = *static_cast<Request*>(timer.owner);
  switch (request.next) {
    case Request::Next::kEndRefused:
      AfterFailure(request, /*own_refusal=*/true);
      break;
    case Request::Next::kRetry:
      if (IsStopped(request)) {
        request.call->client.done_ns = context_.now_ns;
        End(request);
      } else {
        Send(request, Attempt::Kind::kRetry);
      }
      break;
    case Request::Next::kHedge:
      if (IsStopped(request) || !TakeFromBudget(request)) break;
      Send(request, Attempt::Kind::kHedge);
      ArmHedge(request);
      break;
  }
}

// Whether an attempt that begins then is before the request's deadline.
bool Policies::IsInTime(const Request& request, int64_t time_ns) {
  const int64_t deadline_ns = request.call->client.deadline_ns;
  return deadline_ns == 0 || time_ns < deadline_ns;
}

// The part of the policies that follows the ends of attempts: what is learnt
// from them, further attempts, and the ends of requests and groups.

namespace {

constexpr absl::string_view kNotNeededError =
    "CANCELLED: the quorum did not need it";

// Errors begin with their code: "UNAVAILABLE: ...".
absl::string_view CodeOf(absl::string_view error) {
  return error.substr(0, error.find(':'));
}

bool IsRetried(const RetryPolicy& retry, absl::string_view error,
               bool own_refusal) {
  const auto& codes = retry.codes();
  if (codes.empty()) return !own_refusal;
  return std::count(codes.begin(), codes.end(), CodeOf(error)) > 0;
}

// Whether the caller's own deadline ended the attempt. Servers may answer with
// the same code, for calls of their own.
bool HasExpired(const protocol::ClientCall& call) {
  return call.deadline_ns != 0 &&
         call.responding_instance == protocol::kNoInstance &&
         CodeOf(call.error) == "DEADLINE_EXCEEDED";
}

}  // namespace

void Policies::OnDone(RpcCall& call) {
  Attempt& attempt = Attempt::Of(call);
  Request& request = *attempt.request;
  Close(attempt);
  if (request.call == nullptr) {
    --abandoned_;
    WorkerProgress::Add(context_.progress.in_flight, -1);
    if (request.attempts.empty()) requests_.Put(&request);
    attempts_.Put(&attempt);
    return;
  }
  TakeOutcome(request, attempt);
  attempts_.Put(&attempt);
  if (request.error.empty()) {
    End(request);
  } else {
    AfterFailure(request, /*own_refusal=*/false);
  }
}

// Takes an attempt that has ended out of its request and the counts. When
// everything stops, the worker cancels what is in flight, which says nothing
// about servers.
void Policies::Close(Attempt& attempt) {
  Request& request = *attempt.request;
  std::erase(request.attempts, &attempt);
  --attempts_in_flight_;
  const bool is_given_up =
      request.call == nullptr || context_.engine.IsAllStopped();
  const AttemptEnd end = attempt.call.client.error.empty()
                             ? AttemptEnd::kSucceeded
                         : is_given_up ? AttemptEnd::kGivenUp
                                       : AttemptEnd::kFailed;
  Learn(attempt, end);
  // What was taken back before it was sent was no attempt. What expired before
  // is a failed one.
  if (!attempt.call.sent && end == AttemptEnd::kGivenUp) return;
  if (!attempt.is_counted) CountSent(attempt, attempt.call.client.sent_ns);
  CountEnd(attempt, end);
}

void Policies::Learn(Attempt& attempt, AttemptEnd end) {
  RpcPolicy& rpc = *attempt.request->rpc;
  const protocol::ClientCall& client = attempt.call.client;
  const int64_t time_ns = client.done_ns - client.sent_ns;
  if (attempt.server != Balancer::kNoServer) {
    rpc.balancer->OnEnd(attempt.server);
  }
  if (rpc.limit.has_value()) rpc.limit->OnEnd(end, time_ns);
  if (end == AttemptEnd::kSucceeded && attempt.request->call != nullptr) {
    LearnHedgeDelay(attempt, client.done_ns);
  }
  if (!rpc.breakers.empty() &&
      rpc.breakers[client.peer].OnEnd(context_.now_ns, attempt.pass, end)) {
    Count(*attempt.request, PolicyStatistics::kCircuitOpenedCountFieldNumber);
  }
}

// An attempt was answered, or given up. Late answers say nothing more, so that
// the delay does not depend on whether the stack can cancel.
void Policies::LearnHedgeDelay(const Attempt& attempt, int64_t end_ns) {
  std::optional<HedgeDelay>& delay = attempt.request->rpc->hedge_delay;
  const int64_t sent_ns = attempt.call.client.sent_ns;
  if (!delay.has_value() || attempt.kind != Attempt::Kind::kFirst ||
      sent_ns == 0) {
    return;
  }
  delay->OnFirstEnd(end_ns - sent_ns);
}

void Policies::CountEnd(const Attempt& attempt, AttemptEnd end) {
  results::TallyOf<PolicyStatistics>* const totals = TotalsOf(*attempt.request);
  if (totals == nullptr) return;
  const protocol::ClientCall& client = attempt.call.client;
  if (attempt.request->call == nullptr || end == AttemptEnd::kGivenUp ||
      HasExpired(client)) {
    ++totals->count(PolicyStatistics::kAbandonedAttemptCountFieldNumber);
  } else if (end == AttemptEnd::kSucceeded) {
    ++totals->count(PolicyStatistics::kSucceededAttemptCountFieldNumber);
  } else {
    ++totals->count(PolicyStatistics::kFailedAttemptCountFieldNumber);
  }
  if (end == AttemptEnd::kSucceeded) {
    totals->histogram(PolicyStatistics::kAttemptTimeNsFieldNumber)
        .Record(client.done_ns - client.sent_ns);
  }
  const RpcPolicy& rpc = *attempt.request->rpc;
  if (!rpc.limit.has_value()) return;
  const std::array limits = {rpc.limit->of_all_workers()};
  totals->moments(PolicyStatistics::kConcurrencyLimitFieldNumber)
      .RecordEach(limits, std::identity());
}

// The attempt may be the one whose outcome is the request's.
void Policies::TakeOutcome(Request& request, const Attempt& attempt) {
  const protocol::ClientCall& from = attempt.call.client;
  protocol::ClientCall& client = request.call->client;
  client.peer = from.peer;
  client.server_instance = from.server_instance;
  client.done_ns = from.done_ns;
  client.sent_bytes = from.sent_bytes;
  client.received_bytes = from.received_bytes;
  client.responding_instance = from.responding_instance;
  client.server_queue_ns = from.server_queue_ns;
  client.server_handler_ns = from.server_handler_ns;
  client.wire_ns = from.wire_ns;
  client.wire_shared = from.wire_shared;
  request.error.assign(from.error.data(), from.error.size());
  request.won_by_hedge =
      from.error.empty() && attempt.kind == Attempt::Kind::kHedge;
  if (attempt.call.sent) NoteSent(request, from.sent_ns);
}

void Policies::NoteSent(Request& request, int64_t sent_ns) {
  request.is_sent = true;
  request.sent_ns =
      request.sent_ns == 0 ? sent_ns : std::min(request.sent_ns, sent_ns);
}

// Notes the attempts in flight. Those that wait to be sent have no time yet.
void Policies::NoteSent(Request& request) {
  for (const Attempt* attempt : request.attempts) {
    const int64_t sent_ns = attempt->call.client.sent_ns;
    if (sent_ns != 0) NoteSent(request, sent_ns);
  }
}

void Policies::AfterFailure(Request& request, bool own_refusal) {
  if (TryAgain(request, own_refusal)) return;
  if (request.attempts.empty()) End(request);
}

// Returns whether there will be a further attempt.
bool Policies::TryAgain(Request& request, bool own_refusal) {
  const RpcPolicy& rpc = *request.rpc;
  if (IsStopped(request) || request.tries >= rpc.plan.max_attempts)
    return false;
  const bool is_retry = rpc.plan.policy.has_retry();
  const RetryPolicy& retry = rpc.plan.policy.retry();
  // A hedged request is not sent again where the caller itself refuses.
  if (is_retry ? !IsRetried(retry, request.error, own_refusal) : own_refusal) {
    return false;
  }
  const int64_t pause_ns =
      is_retry ? BackoffNs(retry, request.tries, context_.random) : 0;
  const int64_t due_ns = base::SaturatingAdd(context_.now_ns, pause_ns);
  if (!IsInTime(request, due_ns) || !TakeFromBudget(request)) return false;
  if (is_retry) {
    Wait(request, Request::Next::kRetry, due_ns);
  } else {
    context_.timers.Cancel(request.timer);
    Send(request, Attempt::Kind::kHedge);
    ArmHedge(request);
  }
  return true;
}

bool Policies::TakeFromBudget(Request& request) {
  RpcPolicy& rpc = *request.rpc;
  if (!rpc.budget.has_value() || rpc.budget->TakeToken(context_.now_ns))
    return true;
  Count(request, PolicyStatistics::kRefusedByBudgetCountFieldNumber);
  return false;
}

// The outcome is in the request's call already, except for its error.
void Policies::End(Request& request) {
  context_.timers.Cancel(request.timer);
  NoteSent(request);
  RpcCall& call = *std::exchange(request.call, nullptr);
  call.sent = request.is_sent;
  call.client.sent_ns = request.is_sent ? request.sent_ns : call.client.done_ns;
  call.client.error = request.error;
  Count(request, PolicyStatistics::kRequestCountFieldNumber);
  if (request.won_by_hedge)
    Count(request, PolicyStatistics::kHedgeWonCountFieldNumber);
  Abandon(request);
  EndRpc(request, call);
  if (request.attempts.empty()) requests_.Put(&request);
}

// Gives up the attempts that are in flight. Those that only wait for a send
// queue end here.
void Policies::Abandon(Request& request) {
  for (size_t i = request.attempts.size(); i-- > 0;) {
    Attempt& attempt = *request.attempts[i];
    protocol::ClientCall& client = attempt.call.client;
    LearnHedgeDelay(attempt, context_.now_ns);
    if (sender_.Withdraw(attempt.call)) {
      attempt.call.sent = false;
      client.error = kNotNeededError;
      client.sent_ns = client.done_ns = context_.now_ns;
      Close(attempt);
      attempts_.Put(&attempt);
    } else if (!context_.transport.Cancel(client)) {
      Count(request, PolicyStatistics::kUncancelledAttemptCountFieldNumber);
    }
  }
  const auto left = static_cast<int64_t>(request.attempts.size());
  abandoned_ += left;
  WorkerProgress::Add(context_.progress.in_flight, left);
}

void Policies::EndRpc(Request& request, RpcCall& call) {
  if (request.group != nullptr) {
    EndInGroup(request, call);
  } else if (Iteration* iteration = sender_.OnDone(call.client)) {
    scheduler_.FinishIteration(*iteration);
  }
}

void Policies::EndInGroup(Request& request, RpcCall& call) {
  RequestGroup& group = *request.group;
  group.open.back()->position = request.position;
  group.open[request.position] = group.open.back();
  group.open.pop_back();
  const bool succeeded = request.error.empty();
  if (group.iteration != nullptr) {
    ++(succeeded ? group.succeeded : group.failed);
    sender_.OnDone(call.client);
    const int needed = request.rpc->plan.policy.quorum().answers();
    if (group.succeeded == needed || group.failed > group.targets - needed) {
      CloseGroup(group, *request.rpc);
    }
    return;
  }
  if (succeeded) {
    sender_.EndLate(call, group.keeps_samples);
  } else {
    Count(request, PolicyStatistics::kNotNeededCountFieldNumber);
    sender_.Drop(call);
  }
  if (group.open.empty()) groups_.Put(&group);
}

// Ends the group's iteration. What is left of the group goes back to its pool
// with its last request.
void Policies::CloseGroup(RequestGroup& group, const RpcPolicy& rpc) {
  Iteration& iteration = *std::exchange(group.iteration, nullptr);
  const QuorumPolicy& quorum = rpc.plan.policy.quorum();
  const bool is_complete = group.succeeded >= quorum.answers();
  if (!group.stand_in.warmup) {
    results::TallyOf<PolicyStatistics>& totals =
        context_.recorder.PolicyOf(rpc.index);
    if (is_complete) {
      totals.histogram(PolicyStatistics::kQuorumTimeNsFieldNumber)
          .Record(context_.now_ns - group.start_ns);
    } else {
      ++totals.count(PolicyStatistics::kQuorumFailedCountFieldNumber);
    }
  }
  iteration.group = nullptr;
  iteration.failed = !is_complete;
  group.keeps_samples = !iteration.action->list->samples.has_value();
  for (Request* request : group.open) {
    request->call->iteration = &group.stand_in;
  }
  if (group.open.empty()) {
    groups_.Put(&group);
  } else if (quorum.rest() != "ignore") {
    for (size_t left = group.open.size(); left > 0; --left) {
      Request& request = *group.open.back();
      request.error.assign(kNotNeededError.data(), kNotNeededError.size());
      End(request);
    }
  }
  scheduler_.FinishIteration(iteration);
}

}  // namespace distbench::engine
