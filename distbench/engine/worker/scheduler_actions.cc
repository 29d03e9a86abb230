// The part of the scheduler that runs actions: their iterations, in closed and
// in open loop.
//
// Functions on the path of every RPC that only this file calls are inline: a
// call would cost as much as the function does.

#include <algorithm>

#include "distbench/base/saturating_add.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/engine/worker/scheduler.h"

namespace distbench::engine {
namespace {

// The number of iterations that an action may start, including those of the
// lists nested in it, before timers, other actions and the transport get their
// turn.
constexpr int kIterationsPerTurn = 256;

// After a failed iteration, a closed loop pauses for this long, and twice as
// long after each further failure, up to the limit: a peer that refuses at once
// must not get a million requests a second.
constexpr int64_t kFirstBackoffNs = 1'000'000;
constexpr int64_t kLongestBackoffNs = 256'000'000;

// Tells executions of an action's list apart, for the seed of its arrivals. The
// workers that share an action run the same one.
int64_t ExecutionOf(const ListRun& list) {
  const bool is_main =
      list.role == ListRun::Role::kMain || list.role == ListRun::Role::kShard;
  return is_main ? 0 : list.invocation;
}

}  // namespace

void Scheduler::Begin(ActionRun& action, int64_t start_ns) {
  action.start_ns = start_ns;
  if (action.plan->dependencies.empty() &&
      action.plan->delay_distribution == config::kNone) {
    action.intended_start_ns = action.list->intended_start_ns;
    action.held_back = action.list->held_back;
  }
  const int shard_count = ShardCount(action);
  if (shard_count > 1) {
    effects_.StartShards(action, shard_count);
    return;
  }
  SetUpIterations(action, /*shard=*/0, /*shard_count=*/1);
  Advance(action);
}

// An action of the main list is worth sharing if several of its iterations can
// be in flight.
int Scheduler::ShardCount(const ActionRun& action) const {
  const config::IterationsPlan& iterations = action.plan->iterations;
  const bool does_work = action.plan->kind == config::ActionPlan::Kind::kRpc ||
                         action.plan->kind == config::ActionPlan::Kind::kList;
  if (action.list->role != ListRun::Role::kMain || !does_work) return 1;
  return static_cast<int>(
      std::min<int64_t>({context_.engine.worker_count(),
                         iterations.max_parallel, iterations.max_count}));
}

void Scheduler::SetUpIterations(ActionRun& action, int shard, int shard_count) {
  const config::IterationsPlan& plan = action.plan->iterations;
  action.end_ns = base::SaturatingAdd(action.start_ns, plan.max_duration_ns);
  action.max_in_flight =
      plan.max_parallel == config::kUnlimited
          ? config::kUnlimited
          : plan.max_parallel / shard_count +
                (shard < plan.max_parallel % shard_count ? 1 : 0);
  action.timer.kind = Timer::Kind::kActionPace;
  if (!plan.open_loop) return;
  const EngineState& engine = context_.engine;
  action.pacer = Pacer(plan,
                       {.start_ns = action.start_ns,
                        .shard = shard,
                        .shard_count = shard_count,
                        .common_clock_offset_ns = engine.unix_offset_ns(),
                        .instance = engine.instance_plan().number,
                        .instance_count = engine.service().instance_count,
                        .arrival_seed = config::ArrivalSeed(
                            engine.plan().seed, action.list->list,
                            action.position, ExecutionOf(*action.list))},
                       context_.random);
}

// Starts the iterations that may start now. Iterations that end at once
// re-enter here and return, because the loop is running. Only the outermost
// call may find the action done.
void Scheduler::Advance(ActionRun& action) {
  if (action.advancing) return;
  action.advancing = true;
  if (++advancing_actions_ == 1) iterations_in_turn_ = 0;
  while (MayStartIteration(action)) {
    if (iterations_in_turn_ == kIterationsPerTurn) {
      if (!action.queued) ready_.push_back(&action);
      action.queued = true;
      break;
    }
    ++iterations_in_turn_;
    StartIteration(action);
  }
  --advancing_actions_;
  action.advancing = false;
  if (action.exhausted && action.in_flight == 0 && !action.queued) {
    Finish(action);
  }
}

bool Scheduler::RunReadyActions() {
  // Actions that are pushed meanwhile get their turn next time.
  const size_t count = ready_.size();
  for (size_t i = 0; i < count; ++i) {
    ready_[i]->queued = false;
    Advance(*ready_[i]);
  }
  ready_.erase(ready_.begin(), ready_.begin() + count);
  return !ready_.empty();
}

inline bool Scheduler::MayStartIteration(ActionRun& action) {
  if (action.exhausted) return false;
  const bool open_loop = action.plan->iterations.open_loop;
  // The most frequent case. Whether more iterations follow is decided when one
  // ends.
  if (!open_loop && action.in_flight >= action.max_in_flight) return false;
  const bool stopping = Stopping(*action.list);
  if (stopping || CountUsedUp(action)) {
    if (stopping && open_loop) CountUnsent(action);
    Exhaust(action);
    return false;
  }
  return open_loop ? MayStartOpenLoop(action) : MayStartClosedLoop(action);
}

inline bool Scheduler::MayStartClosedLoop(ActionRun& action) {
  if (context_.now_ns > action.end_ns) {
    Exhaust(action);
    return false;
  }
  if (context_.now_ns < action.paused_until_ns) {
    WaitUntil(action, std::min(action.paused_until_ns,
                               base::SaturatingAdd(action.end_ns, 1)));
    return false;
  }
  return true;
}

bool Scheduler::MayStartOpenLoop(ActionRun& action) {
  action.pacer.Settle(context_.now_ns);
  if (action.pacer.exhausted()) {
    Exhaust(action);
    return false;
  }
  if (action.pacer.next_ns() > context_.now_ns) {
    if (action.behind) SetBacklog(action);
    action.behind = false;
    WaitUntil(action, action.pacer.next_ns());
    return false;
  }
  // An iteration that the cap holds back keeps its intended time, as do those
  // after it, until the action has caught up or its time is up.
  if (action.behind && context_.now_ns > action.end_ns) {
    CountUnsent(action);
    Exhaust(action);
    return false;
  }
  action.behind |= action.in_flight >= action.max_in_flight;
  if (action.behind) SetBacklog(action);
  return action.in_flight < action.max_in_flight;
}

// The backlog is part of the reported progress.
void Scheduler::SetBacklog(ActionRun& action) {
  if (action.plan->kind != config::ActionPlan::Kind::kRpc) return;
  const int64_t backlog_rpcs =
      action.exhausted
          ? 0
          : action.pacer.due_count(context_.now_ns) * action.rpcs_per_iteration;
  WorkerProgress::Add(context_.progress.backlog,
                      backlog_rpcs - action.backlog_rpcs);
  action.backlog_rpcs = backlog_rpcs;
}

inline bool Scheduler::CountUsedUp(const ActionRun& action) const {
  const SharedAction* shared = action.list->shared;
  const int64_t claimed =
      shared == nullptr
          ? action.started
          : shared->claimed_iterations.load(std::memory_order_relaxed);
  return claimed >= action.plan->iterations.max_count;
}

// Takes the next number for an iteration. Another worker may have taken the
// last one since CountUsedUp(); the number is then beyond the count.
inline void Scheduler::ClaimNumber(ActionRun& action) {
  SharedAction* shared = action.list->shared;
  action.next_number = shared == nullptr ? action.started
                                         : shared->claimed_iterations.fetch_add(
                                               1, std::memory_order_relaxed);
}

void Scheduler::Exhaust(ActionRun& action) {
  action.exhausted = true;
  if (action.behind) SetBacklog(action);
  context_.timers.Cancel(action.timer);
}

void Scheduler::WaitUntil(ActionRun& action, int64_t due_ns) {
  if (!action.timer.armed()) context_.timers.Arm(action.timer, due_ns);
}

// Sets up a starting iteration with the number that was claimed for it.
inline void Scheduler::Count(ActionRun& action, Iteration& iteration) {
  const config::IterationsPlan& plan = action.plan->iterations;
  iteration.number = action.next_number;
  const int64_t since_start_ns =
      (plan.open_loop ? iteration.intended_ns : context_.now_ns) -
      action.start_ns;
  iteration.warmup = action.list->warmup ||
                     iteration.number < plan.warmup_count ||
                     since_start_ns < plan.warmup_ns;
  ++action.started;
}

inline void Scheduler::StartIteration(ActionRun& action) {
  const config::IterationsPlan& plan = action.plan->iterations;
  ClaimNumber(action);
  if (action.next_number >= plan.max_count) return;
  Iteration& iteration = *iterations_.Get();
  LimitInProgress(static_cast<int64_t>(iterations_.in_use()),
                  "iterations in flight");
  iteration.action = &action;
  iteration.failed = false;
  iteration.repeats = false;
  iteration.outstanding = 0;
  if (plan.open_loop) {
    iteration.intended_ns = action.pacer.next_ns();
    iteration.held_back = action.behind;
    action.pacer.Advance(context_.random);
  } else {
    const bool first = action.started == 0;
    iteration.intended_ns = first ? action.intended_start_ns : 0;
    iteration.held_back = first && action.held_back;
  }
  Count(action, iteration);
  ++action.in_flight;
  switch (action.plan->kind) {
    case config::ActionPlan::Kind::kRpc:
      if (!effects_.SendRpcs(iteration)) {
        FinishIteration(iteration);
      } else {
        action.rpcs_per_iteration = iteration.outstanding;
      }
      break;
    case config::ActionPlan::Kind::kList:
      StartNestedList(iteration);
      break;
    case config::ActionPlan::Kind::kActivity:
      effects_.StartActivity(iteration);
      break;
    case config::ActionPlan::Kind::kReplay:
      effects_.StartReplay(iteration);
      break;
    case config::ActionPlan::Kind::kNothing:
      FinishIteration(iteration);
      break;
  }
}

void Scheduler::FinishIteration(Iteration& iteration) {
  ActionRun& action = *iteration.action;
  --action.in_flight;
  PauseAfterFailure(action, iteration.failed);
  iterations_.Put(&iteration);
  Advance(action);
}

bool Scheduler::StartAgain(Iteration& iteration) {
  if (iteration.failed) return false;
  ActionRun& action = *iteration.action;
  // The iteration frees its own place among those in flight.
  --action.in_flight;
  const bool may_start = MayStartIteration(action);
  ++action.in_flight;
  if (!may_start) return false;
  ClaimNumber(action);
  if (action.next_number >= action.plan->iterations.max_count) return false;
  action.backoff_ns = 0;
  iteration.intended_ns = 0;
  Count(action, iteration);
  return true;
}

inline void Scheduler::PauseAfterFailure(ActionRun& action, bool failed) {
  if (!failed) {
    action.backoff_ns = 0;
    return;
  }
  if (context_.now_ns < action.paused_until_ns) return;
  action.backoff_ns =
      std::clamp(2 * action.backoff_ns, kFirstBackoffNs, kLongestBackoffNs);
  action.paused_until_ns = context_.now_ns + action.backoff_ns;
}

}  // namespace distbench::engine
