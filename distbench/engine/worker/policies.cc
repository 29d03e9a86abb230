#include "distbench/engine/worker/policies.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/string_view.h"
#include "distbench/base/saturating_add.h"
#include "distbench/engine/worker/rpc_sender.h"

namespace distbench::engine {
namespace {

constexpr absl::string_view kLimitError =
    "RESOURCE_EXHAUSTED: the caller's concurrency limit is reached";
constexpr absl::string_view kCircuitBreakerError =
    "UNAVAILABLE: the caller's circuit breaker is open";
const std::optional<config::RetryBudgetPlan>& BudgetOf(
    const config::PolicyPlan& plan) {
  static const std::optional<config::RetryBudgetPlan> kNoBudget;
  if (plan.retry.has_value()) return plan.retry->budget;
  return plan.hedging.has_value() ? plan.hedging->budget : kNoBudget;
}

int MaxAttemptsOf(const config::PolicyPlan& plan) {
  if (plan.retry.has_value()) return plan.retry->max_attempts;
  return plan.hedging.has_value() ? plan.hedging->max_attempts : 1;
}

// A call's deadline of 0 is none.
int64_t EarlierDeadline(int64_t request_ns, int64_t attempt_ns) {
  if (attempt_ns == std::numeric_limits<int64_t>::max()) return request_ns;
  return request_ns == 0 ? attempt_ns : std::min(request_ns, attempt_ns);
}

bool IsClient(const config::InstancePlan& instance,
              const config::RpcPlan& rpc) {
  return std::count(rpc.client_services.begin(), rpc.client_services.end(),
                    instance.service) > 0;
}

}  // namespace

RpcPolicy::RpcPolicy(EngineState& engine, int worker, int rpc_index)
    : index(rpc_index),
      plan(*engine.plan().rpcs[rpc_index].policy),
      targets(engine.targets(rpc_index)),
      max_attempts(MaxAttemptsOf(plan)) {
  if (plan.load_balancing.has_value()) {
    balancer.emplace(*plan.load_balancing,
                     static_cast<int>(targets.routes.size()),
                     engine.instance_plan().number + worker);
  }
  if (plan.circuit_breaker.has_value()) {
    breakers.assign(engine.routes().count(),
                    CircuitBreaker(*plan.circuit_breaker));
  }
  if (plan.concurrency_limit.has_value()) {
    limit.emplace(*plan.concurrency_limit, worker, engine.worker_count());
  }
  if (const auto& of_plan = BudgetOf(plan); of_plan.has_value()) {
    budget.emplace(*of_plan, engine.worker_count());
  }
  if (plan.hedging.has_value()) hedge_delay.emplace(*plan.hedging);
}

Policies::Policies(WorkerContext& context, RpcSender& sender,
                   Scheduler& scheduler)
    : context_(context), sender_(sender), scheduler_(scheduler) {
  EngineState& engine = context.engine;
  const std::vector<config::RpcPlan>& rpcs = engine.plan().rpcs;
  for (size_t i = 0; i < rpcs.size(); ++i) {
    const bool is_needed =
        rpcs[i].policy.has_value() && IsClient(engine.instance_plan(), rpcs[i]);
    rpcs_.push_back(is_needed ? std::make_unique<RpcPolicy>(
                                    engine, context.worker, static_cast<int>(i))
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
  request.timer.kind = Timer::Kind::kPolicy;
  request.timer.owner = &request;
  request.timer.spin = list.plan->spin;
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
  if (request.rpc->plan.quorum.has_value()) Join(request);
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
    Count(request, &results::PolicyTotals::refused_by_limit_count);
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
    Count(request, &results::PolicyTotals::refused_by_circuit_breaker_count);
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
  Count(request, &results::PolicyTotals::attempt_count);
  if (attempt.kind == Attempt::Kind::kRetry) {
    Count(request, &results::PolicyTotals::retry_count);
  } else if (attempt.kind == Attempt::Kind::kHedge) {
    Count(request, &results::PolicyTotals::hedge_count);
  }
}

void Policies::ArmHedge(Request& request) {
  RpcPolicy& rpc = *request.rpc;
  if (!rpc.hedge_delay.has_value() || request.attempts.empty() ||
      request.timer.armed() || request.tries >= rpc.max_attempts) {
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

bool Policies::IsStopped(const Timer& timer) const {
  return IsStopped(*static_cast<const Request*>(timer.owner));
}

bool Policies::IsStopped(const Request& request) const {
  switch (context_.engine.stop_scope()) {
    case StopScope::kNothing:
      return false;
    case StopScope::kOwnTraffic:
      return request.own_traffic;
    case StopScope::kEverything:
      return true;
  }
  return true;
}

}  // namespace distbench::engine
