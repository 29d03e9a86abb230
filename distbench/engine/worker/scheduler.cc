// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/scheduler.h"

#include <algorithm>

#include "absl/random/distributions.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/engine/policies/attempts.h"
#include "distbench/engine/worker/worker.h"
#include "proto/data_plane.pb.h"

namespace distbench::engine {

// The part of the scheduler that runs lists: the order of their actions, and
// the effects of the end of an action or a list.

Scheduler::Scheduler(WorkerContext& context, Worker& worker)
    : context_(context),
      worker_(worker),
      lists_(context.engine.plan().lists.size()),
      invocations_(context.engine.plan().lists.size(), 0) {}

void Scheduler::StartMainList(int64_t start_ns) {
  ListRun& list = NewList(context_.engine.service().main_list,
                          ListRun::Role::kMain, /*own_traffic=*/true);
  list.start_ns = start_ns;
  main_list_ = &list;
  Start(list);
}

inline void Scheduler::LimitInProgress(int64_t count, const char* what,
                                       const char* remedy) {
  if (count > context_.engine.plan().max_pending_work) {
    worker_.group().OnMuchPendingWork(what, remedy);
  }
}

namespace {

// The trace of what a request leads to. One that does not parse, as a client of
// no instance may send it, is none.
void InheritTrace(absl::string_view trace, ListRun& list) {
  TraceContext parsed;
  if (parsed.ParseFromArray(trace.data(), static_cast<int>(trace.size()))) {
    list.trace_context.assign(trace.data(), trace.size());
  }
}

}  // namespace

void Scheduler::StartHandler(int list_index, protocol::ServerCall& request) {
  LimitInProgress(++handlers_in_progress_, "requests being handled",
                  "let the service run fewer at once (its admission)");
  ListRun& list = NewList(list_index, ListRun::Role::kHandler,
                          /*own_traffic=*/false);
  list.request = &request;
  list.warmup = request.warmup;
  list.start_ns = context_.now_ns;
  if (!request.trace_context.empty()) [[unlikely]] {
    InheritTrace(request.trace_context, list);
  }
  Start(list);
}

void Scheduler::StartNestedList(Iteration& iteration) {
  const ActionRun& action = *iteration.action;
  ListRun& list = NewList(action.plan->target, ListRun::Role::kNested,
                          action.list->own_traffic);
  list.iteration = &iteration;
  list.warmup = iteration.warmup;
  list.start_ns = context_.now_ns;
  list.intended_start_ns = iteration.intended_ns;
  list.held_back = iteration.held_back;
  list.trace_context = action.list->trace_context;
  Start(list);
}

void Scheduler::StartShard(SharedAction& shared, int shard) {
  ListRun& list = NewList(context_.engine.service().main_list,
                          ListRun::Role::kShard, /*own_traffic=*/true);
  list.start_ns = shared.start_ns;
  list.unfinished_actions = 1;
  ActionRun& action = list.actions[shared.position];
  list.shared = &shared;
  action.start_ns = shared.start_ns;
  SetUpIterations(action, shard, shared.shard_count);
  Advance(action);
}

void Scheduler::OnShardsFinished(const SharedAction& shared) {
  Finish(main_list_->actions[shared.position]);
}

ListRun& Scheduler::NewList(int list_index, ListRun::Role role,
                            bool own_traffic) {
  ListRun& list = *lists_[list_index].Get();
  list.role = role;
  list.own_traffic = own_traffic;
  list.warmup = false;
  list.failed = false;
  list.succeeded = false;
  list.plan = &context_.engine.plan().lists[list_index];
  list.list = list_index;
  // Unique within the engine without coordination between workers.
  list.invocation =
      invocations_[list_index]++ * context_.engine.worker_count() +
      context_.worker;
  list.intended_start_ns = 0;
  list.held_back = false;
  list.response_override = nullptr;
  list.request = nullptr;
  list.iteration = nullptr;
  list.shared = nullptr;
  list.trace_context.clear();
  ResetActions(list);
  ResetSamples(list);
  DrawPredicates(list);
  return list;
}

void Scheduler::ResetActions(ListRun& list) {
  const std::vector<config::ActionPlan>& plans = list.plan->actions;
  list.actions.resize(plans.size());
  list.startable.clear();
  list.unfinished_actions = static_cast<int>(plans.size());
  for (size_t i = 0; i < plans.size(); ++i) {
    ActionRun& action = list.actions[i];
    action = ActionRun();
    action.list = &list;
    action.plan = &plans[i];
    action.position = static_cast<int>(i);
    action.remaining_dependencies =
        static_cast<int>(plans[i].dependencies.size());
    SetUpTimer(action.timer, Timer::Kind::kActionDelay, list, &action);
  }
}

void Scheduler::ResetSamples(ListRun& list) {
  if (list.plan->max_rpc_samples == 0) return;
  const int64_t capacity =
      std::min(list.plan->max_rpc_samples, context_.recorder.sample_capacity());
  if (list.samples.has_value() && list.samples->capacity() == capacity) {
    list.samples->Clear();
  } else {
    list.samples.emplace(capacity, context_.random());
  }
}

void Scheduler::DrawPredicates(ListRun& list) {
  const auto& predicates = list.plan->predicates;
  list.predicates.resize(predicates.size());
  for (size_t i = 0; i < predicates.size(); ++i) {
    list.predicates[i] =
        absl::Uniform(context_.random, 0.0, 1.0) < predicates[i].probability;
  }
}

void Scheduler::Start(ListRun& list) {
  for (const ActionRun& action : list.actions) {
    if (action.remaining_dependencies == 0) {
      list.startable.push_back(action.position);
    }
  }
  Advance(list);
}

// Actions that end at once make others startable while this loop runs, so it
// iterates by index. Only the outermost call may find the list done.
void Scheduler::Advance(ListRun& list) {
  if (list.advancing) return;
  list.advancing = true;
  for (size_t i = 0; i < list.startable.size(); ++i) {
    Consider(list.actions[list.startable[i]]);
  }
  list.startable.clear();
  list.advancing = false;
  if (list.unfinished_actions == 0) Finish(list);
}

// The main list and its shards share one limit.
void Scheduler::KeepSamples(ListRun& list) {
  if (list.role != ListRun::Role::kMain && list.role != ListRun::Role::kShard) {
    return context_.recorder.KeepAll(*list.samples);
  }
  context_.recorder.SetAside(*std::move(list.samples));
  list.samples.reset();
}

void Scheduler::Finish(ListRun& list) {
  if (list.request != nullptr) {
    worker_.Respond(list);
    list.request = nullptr;
  }
  if (list.samples.has_value()) KeepSamples(list);
  const ListRun::Role role = list.role;
  // While something succeeds, a pause would be of our own making.
  const bool failed = list.failed && !list.succeeded;
  Iteration* iteration = list.iteration;
  SharedAction* shared = list.shared;
  lists_[list.list].Put(&list);
  switch (role) {
    case ListRun::Role::kMain:
      worker_.group().OnMainListFinished();
      break;
    case ListRun::Role::kHandler:
      --handlers_in_progress_;
      break;
    case ListRun::Role::kNested:
      iteration->failed |= failed;
      FinishIteration(*iteration);
      break;
    case ListRun::Role::kShard:
      worker_.OnShardFinished(*shared);
      break;
  }
}

void Scheduler::Consider(ActionRun& action) {
  if (action.skipped || IsStopped(*action.list) || !ConditionsHold(action)) {
    Skip(action);
  } else if (action.plan->delay_distribution != config::kNone) {
    Delay(action);
  } else {
    StartAction(action, action.plan->dependencies.empty()
                            ? action.list->start_ns
                            : context_.now_ns);
  }
}

bool Scheduler::ConditionsHold(const ActionRun& action) const {
  const auto& conditions = action.plan->conditions;
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const config::ActionPlan::Condition& condition) {
                       return action.list->predicates[condition.predicate] ==
                              condition.expected;
                     });
}

void Scheduler::Delay(ActionRun& action) {
  const int64_t delay_ns =
      Draw(action.plan->delay_distribution, /*fixed=*/0, context_);
  context_.timers.Arm(action.timer,
                      base::SaturatingAdd(context_.now_ns, delay_ns));
}

void Scheduler::OnDelayOver(ActionRun& action) {
  if (IsStopped(*action.list)) {
    Skip(action);
  } else {
    StartAction(action, action.timer.due_ns);
  }
}

// A skipped action neither answers nor cancels.
void Scheduler::Skip(ActionRun& action) {
  action.skipped = true;
  ReleaseDependents(action);
}

void Scheduler::Finish(ActionRun& action) {
  ListRun& list = *action.list;
  // For a shard, these follow on the main list's worker when all shards are
  // done.
  if (list.role != ListRun::Role::kShard) {
    const config::ActionPlan& plan = *action.plan;
    if (plan.response_override.has_value()) {
      list.response_override = &*plan.response_override;
    }
    if (plan.send_response_when_done && list.request != nullptr) {
      worker_.Respond(list);
      list.request = nullptr;
    }
    if (plan.cancel_traffic_when_done) {
      worker_.group().StopOwnTraffic(
          absl::StrCat("action \"", plan.name, "\" has ended the traffic"));
    }
  }
  ReleaseDependents(action);
}

void Scheduler::ReleaseDependents(ActionRun& action) {
  ListRun& list = *action.list;
  if (list.role != ListRun::Role::kShard) {
    for (int position : action.plan->dependents) {
      ActionRun& dependent = list.actions[position];
      dependent.skipped |= action.skipped;
      if (--dependent.remaining_dependencies == 0) {
        list.startable.push_back(position);
      }
    }
  }
  --list.unfinished_actions;
  Advance(list);
}

// The part of the scheduler that runs actions: their iterations, in closed and
// in open loop.
//
// Functions on the path of every RPC that only this file calls are inline: a
// call would cost as much as the function does.

namespace {

// The number of iterations that an action may start, including those of the
// lists nested in it, before timers, other actions and the transport get their
// turn.
constexpr int kIterationsPerTurn = 256;

// After a failed iteration of a closed loop, its place among those in flight
// pauses for this long, and twice as long after each further failure in a row,
// up to the limit: a peer that refuses at once must not get a million requests
// a second. The first pauses are too short to change the rate of a loop of
// which a part fails, for that would be our doing, not the server's.
constexpr int64_t kFirstBackoffNs = 1000;
constexpr int64_t kLongestBackoffNs = 256'000'000;

// The most numbers of iterations that a worker claims at once.
constexpr int64_t kMostNumbers = 64;

constexpr auto kLaterPause = [](const PausedPlace& a, const PausedPlace& b) {
  return a.due_ns > b.due_ns;
};

// Tells executions of an action's list apart, for the seed of its arrivals. The
// workers that share an action run the same one.
int64_t ExecutionOf(const ListRun& list) {
  const bool is_main =
      list.role == ListRun::Role::kMain || list.role == ListRun::Role::kShard;
  return is_main ? 0 : list.invocation;
}

}  // namespace

void Scheduler::StartAction(ActionRun& action, int64_t start_ns) {
  action.start_ns = start_ns;
  if (action.plan->dependencies.empty() &&
      action.plan->delay_distribution == config::kNone) {
    action.intended_start_ns = action.list->intended_start_ns;
    action.held_back = action.list->held_back;
  }
  const int shard_count = ShardCount(action);
  if (shard_count > 1) {
    worker_.StartShards(action, shard_count);
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
  action.max_in_flight = ShareOfLimit(plan.max_parallel, shard, shard_count);
  action.numbers_end = action.list->shared == nullptr ? plan.max_count : 0;
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
  // Each of many places that fail at once would start as many as a turn allows.
  if (action.queued && !action.paused.empty()) return;
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
  // While the action is queued, the end of a pause must not bring it another
  // turn.
  if (!action.paused.empty() && !action.queued) WaitForPause(action);
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
  // ends, or a pause.
  if (!open_loop && action.in_flight >= action.max_in_flight &&
      !PauseIsOver(action)) {
    return false;
  }
  const bool stopping = IsStopped(*action.list);
  if (stopping || CountUsedUp(action)) {
    if (stopping && open_loop) CountUnsent(action);
    Exhaust(action);
    return false;
  }
  return open_loop ? MayStartOpenLoop(action) : MayStartClosedLoop(action);
}

inline bool Scheduler::MayStartClosedLoop(ActionRun& action) {
  if (context_.now_ns <= action.end_ns) return true;
  Exhaust(action);
  return false;
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
  if (action.next_number < action.numbers_end) return false;
  const SharedAction* shared = action.list->shared;
  return shared == nullptr ||
         shared->claimed_numbers.load(std::memory_order_relaxed) >=
             action.plan->iterations.max_count;
}

// How many numbers to claim, so that workers that share an action need not
// write to one counter for each iteration. One by one where it matters which
// iteration has which number: in a warm-up that is counted, and in an open loop
// with a count, whose last arrival is known. Likewise while a place pauses,
// because the other workers can use the numbers sooner. Towards the end of a
// count fewer and fewer, so that no worker has many left when the others have
// none.
int64_t Scheduler::RangeSize(const ActionRun& action) const {
  const config::IterationsPlan& plan = action.plan->iterations;
  const SharedAction& shared = *action.list->shared;
  const int64_t claimed =
      shared.claimed_numbers.load(std::memory_order_relaxed);
  if (claimed < plan.warmup_count) return 1;
  if (!action.paused.empty()) return 1;
  if (plan.open_loop && plan.max_count != config::kUnlimited) return 1;
  return std::clamp<int64_t>(
      (plan.max_count - claimed) / (4 * shared.shard_count), 1, kMostNumbers);
}

// Claims numbers unless some are left. Returns false if there are none: another
// worker may have claimed the last one since CountUsedUp().
inline bool Scheduler::ClaimNumber(ActionRun& action) {
  if (action.next_number < action.numbers_end) return true;
  return action.list->shared != nullptr &&
         ClaimRange(action, RangeSize(action));
}

// Requires a shared action of whose numbers this worker has none left.
bool Scheduler::ClaimRange(ActionRun& action, int64_t count) {
  action.next_number = action.list->shared->claimed_numbers.fetch_add(
      count, std::memory_order_relaxed);
  action.numbers_end =
      std::min(action.next_number + count, action.plan->iterations.max_count);
  return action.next_number < action.numbers_end;
}

void Scheduler::Exhaust(ActionRun& action) {
  action.exhausted = true;
  action.in_flight -= static_cast<int64_t>(action.paused.size());
  action.paused.clear();
  if (action.behind) SetBacklog(action);
  context_.timers.Cancel(action.timer);
}

void Scheduler::WaitUntil(ActionRun& action, int64_t due_ns) {
  if (!action.timer.armed()) context_.timers.Arm(action.timer, due_ns);
}

// Sets up a starting iteration with the next number, which was claimed.
inline void Scheduler::Count(ActionRun& action, Iteration& iteration) {
  const config::IterationsPlan& plan = action.plan->iterations;
  iteration.number = action.next_number++;
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
  if (!ClaimNumber(action)) return;
  Iteration& iteration = *iterations_.Get();
  LimitInProgress(static_cast<int64_t>(iterations_.in_use()),
                  "iterations in flight",
                  "let the actions begin fewer: at a lower rate, or with a "
                  "limit of max_parallel_iterations");
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
    iteration.backoff_ns = PauseIsOver(action) ? EndPause(action) : 0;
  }
  Count(action, iteration);
  ++action.in_flight;
  if (action.plan->record != config::kNone) [[unlikely]] {
    iteration.recorded_number =
        context_.engine.NextRecordedNumber(action.plan->record);
    iteration.started_ns = context_.now_ns;
  }
  switch (action.plan->kind) {
    case config::ActionPlan::Kind::kRpc:
      if (!worker_.SendRpcs(iteration)) {
        FinishIteration(iteration);
      } else {
        action.rpcs_per_iteration = iteration.outstanding;
      }
      break;
    case config::ActionPlan::Kind::kList:
      StartNestedList(iteration);
      break;
    case config::ActionPlan::Kind::kActivity:
      worker_.StartActivity(iteration);
      break;
    case config::ActionPlan::Kind::kReplay:
      worker_.StartReplay(iteration);
      break;
    case config::ActionPlan::Kind::kReceive:
      if (worker_.StartReceive(iteration)) FinishIteration(iteration);
      break;
    case config::ActionPlan::Kind::kNothing:
      FinishIteration(iteration);
      break;
  }
}

// What a stop has cut short did not do its work.
void Scheduler::Record(const Iteration& iteration) {
  const ActionRun& action = *iteration.action;
  if (iteration.warmup) return;
  if (iteration.failed || IsStopped(*action.list)) {
    context_.iterations.AddUnfinished(action.plan->record);
  } else {
    context_.iterations.Add(action.plan->record, iteration.recorded_number,
                            iteration.started_ns, context_.now_ns);
  }
}

void Scheduler::FinishIteration(Iteration& iteration) {
  ActionRun& action = *iteration.action;
  if (action.plan->record != config::kNone) [[unlikely]]
    Record(iteration);
  (iteration.failed ? action.list->failed : action.list->succeeded) = true;
  if (PausesAfter(iteration)) {
    Pause(action, iteration.backoff_ns);
  } else {
    --action.in_flight;
  }
  iterations_.Put(&iteration);
  Advance(action);
}

bool Scheduler::StartAgain(Iteration& iteration) {
  if (iteration.failed) return false;
  ActionRun& action = *iteration.action;
  action.list->succeeded = true;
  // The iteration frees its own place among those in flight.
  --action.in_flight;
  const bool may_start = MayStartIteration(action);
  ++action.in_flight;
  if (!may_start) return false;
  if (!ClaimNumber(action)) return false;
  iteration.intended_ns = 0;
  iteration.backoff_ns = 0;
  Count(action, iteration);
  return true;
}

// Whether an iteration may start in a place that has paused, or the action has
// to find out that none does any more.
inline bool Scheduler::PauseIsOver(const ActionRun& action) const {
  return !action.paused.empty() &&
         (action.paused.front().due_ns <= context_.now_ns ||
          IsStopped(*action.list));
}

// Nothing is left to wait for after an action's last iteration.
inline bool Scheduler::PausesAfter(const Iteration& iteration) const {
  const ActionRun& action = *iteration.action;
  return iteration.failed && !action.plan->iterations.open_loop &&
         !action.exhausted && !CountUsedUp(action);
}

// Keeps the place of an iteration that has failed, before which it has paused
// for backoff_ns.
void Scheduler::Pause(ActionRun& action, int64_t backoff_ns) {
  backoff_ns = std::clamp(2 * backoff_ns, kFirstBackoffNs, kLongestBackoffNs);
  // At the end of its time, the action has to find out that it is over.
  const int64_t due_ns = std::min(context_.now_ns + backoff_ns,
                                  base::SaturatingAdd(action.end_ns, 1));
  action.paused.push_back({.due_ns = due_ns, .backoff_ns = backoff_ns});
  std::push_heap(action.paused.begin(), action.paused.end(), kLaterPause);
}

// Frees the place whose pause is over. Returns how long that was.
int64_t Scheduler::EndPause(ActionRun& action) {
  std::pop_heap(action.paused.begin(), action.paused.end(), kLaterPause);
  const int64_t backoff_ns = action.paused.back().backoff_ns;
  action.paused.pop_back();
  --action.in_flight;
  return backoff_ns;
}

void Scheduler::WaitForPause(ActionRun& action) {
  const int64_t due_ns = action.paused.front().due_ns;
  if (action.timer.armed() && action.timer.due_ns == due_ns) return;
  context_.timers.Cancel(action.timer);
  context_.timers.Arm(action.timer, due_ns);
}

// The part of the scheduler that accounts for RPCs that an open loop should
// have sent but never did, and for activities that it should have run.

namespace {

// The most pieces in which a backlog is counted, so that this does not take
// long.
constexpr int64_t kMaxPieces = 100'000;

}  // namespace

// Claims numbers for at most `count` iterations, to which it sets `count`; the
// first is action.next_number. Returns false if there are none left.
bool Scheduler::ClaimNumbers(ActionRun& action, int64_t& count) {
  const bool has_some = action.next_number < action.numbers_end;
  if (!has_some &&
      (action.list->shared == nullptr || !ClaimRange(action, count))) {
    return false;
  }
  count = std::min(count, action.numbers_end - action.next_number);
  return true;
}

// Counts iterations that were due by now, or by the end of the action or its
// stop, whichever is earlier. An action that is behind learns of a stop only
// when something that is in flight has ended.
void Scheduler::CountUnsent(ActionRun& action) {
  int64_t until_ns = context_.now_ns;
  if (IsStopped(*action.list)) {
    until_ns = std::min(until_ns,
                        context_.engine.stopped_ns(action.list->own_traffic));
  }
  const int64_t last_ns = std::min(until_ns, action.end_ns);
  const int64_t piece =
      std::max<int64_t>(1, action.pacer.due_count(last_ns) / kMaxPieces);
  for (;;) {
    action.pacer.Settle(last_ns);
    if (action.pacer.exhausted() || action.pacer.next_ns() > last_ns) return;
    int64_t count =
        piece == 1 ? 1 : std::min(piece, action.pacer.due_count(last_ns));
    if (!ClaimNumbers(action, count)) return;
    const int64_t first_ns = action.pacer.next_ns();
    if (piece == 1) {
      action.pacer.Advance(context_.random);
      CountUnsent(action, first_ns, until_ns, 1);
    } else {
      action.pacer.Skip(count);
      // The next one may be due much later, or never.
      const int64_t end_ns = std::min(action.pacer.next_ns(), last_ns);
      CountUnsent(action, first_ns + (end_ns - first_ns) / 2, until_ns, count);
    }
    action.next_number += count;
    action.started += count;
  }
}

// `until_ns`: when it became certain that they would not start.
void Scheduler::CountUnsent(ActionRun& action, int64_t intended_ns,
                            int64_t until_ns, int64_t count) {
  const config::IterationsPlan& plan = action.plan->iterations;
  const bool warmup = action.list->warmup ||
                      action.next_number < plan.warmup_count ||
                      intended_ns - action.start_ns < plan.warmup_ns;
  if (!warmup) CountUnsentRpcs(*action.plan, intended_ns, until_ns, count);
}

// Counts the RPCs and activities of iterations that never started: the action's
// own, or those that the list it runs would have begun with. Actions that
// depend on predicates are left out, because the predicates were never drawn.
void Scheduler::CountUnsentRpcs(const config::ActionPlan& action,
                                int64_t intended_ns, int64_t until_ns,
                                int64_t iterations) {
  if (action.kind == config::ActionPlan::Kind::kRpc) {
    Fanout& fanout = *context_.engine.targets(action.target).fanout;
    const int64_t rpcs =
        iterations *
        static_cast<int64_t>(fanout.Select(context_.random, scratch_).size());
    WorkerProgress::Add(context_.progress.offered, rpcs);
    context_.recorder.CountUnsent(action.target, intended_ns,
                                  until_ns - intended_ns, rpcs);
    return;
  }
  if (action.kind == config::ActionPlan::Kind::kActivity) {
    worker_.group().activities().CountOffered(action.target, intended_ns,
                                              iterations);
    return;
  }
  if (action.kind != config::ActionPlan::Kind::kList) return;
  for (const config::ActionPlan& first :
       context_.engine.plan().lists[action.target].actions) {
    if (first.dependencies.empty() && first.conditions.empty() &&
        first.delay_distribution == config::kNone &&
        !first.iterations.open_loop) {
      CountUnsentRpcs(first, intended_ns, until_ns, iterations);
    }
  }
}

}  // namespace distbench::engine
