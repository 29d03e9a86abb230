// The part of the scheduler that runs lists: the order of their actions, and
// the effects of the end of an action or a list.

#include <algorithm>

#include "absl/random/distributions.h"
#include "distbench/base/saturating_add.h"
#include "distbench/engine/worker/scheduler.h"

namespace distbench::engine {

Scheduler::Scheduler(WorkerContext& context, SchedulerEffects& effects)
    : context_(context),
      effects_(effects),
      lists_(context.engine.plan().lists.size()),
      invocations_(context.engine.plan().lists.size(), 0) {}

void Scheduler::StartMainList(int64_t start_ns) {
  ListRun& list =
      NewList(context_.engine.service().main_list, ListRun::Role::kMain);
  list.own_traffic = true;
  list.start_ns = start_ns;
  main_list_ = &list;
  Start(list);
}

void Scheduler::StartHandler(int list_index, protocol::ServerCall& request) {
  LimitInProgress(++handlers_in_progress_, "requests being handled");
  ListRun& list = NewList(list_index, ListRun::Role::kHandler);
  list.request = &request;
  list.warmup = request.warmup;
  list.start_ns = context_.now_ns;
  list.trace_context.assign(request.trace_context.data(),
                            request.trace_context.size());
  Start(list);
}

void Scheduler::StartNestedList(Iteration& iteration) {
  const ActionRun& action = *iteration.action;
  ListRun& list = NewList(action.plan->target, ListRun::Role::kNested);
  list.iteration = &iteration;
  list.own_traffic = action.list->own_traffic;
  list.warmup = iteration.warmup;
  list.start_ns = context_.now_ns;
  list.intended_start_ns = iteration.intended_ns;
  list.held_back = iteration.held_back;
  list.trace_context = action.list->trace_context;
  Start(list);
}

void Scheduler::StartShard(SharedAction& shared, int shard) {
  ListRun& list =
      NewList(context_.engine.service().main_list, ListRun::Role::kShard);
  list.own_traffic = true;
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

ListRun& Scheduler::NewList(int list_index, ListRun::Role role) {
  ListRun& list = *lists_[list_index].Get();
  list.role = role;
  list.own_traffic = false;
  list.warmup = false;
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
    action.timer.owner = &action;
    action.timer.spin = list.plan->spin;
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
    effects_.Respond(list);
    list.request = nullptr;
  }
  if (list.samples.has_value()) KeepSamples(list);
  const ListRun::Role role = list.role;
  Iteration* iteration = list.iteration;
  SharedAction* shared = list.shared;
  lists_[list.list].Put(&list);
  switch (role) {
    case ListRun::Role::kMain:
      effects_.OnMainListFinished();
      break;
    case ListRun::Role::kHandler:
      --handlers_in_progress_;
      break;
    case ListRun::Role::kNested:
      FinishIteration(*iteration);
      break;
    case ListRun::Role::kShard:
      effects_.OnShardFinished(*shared);
      break;
  }
}

void Scheduler::Consider(ActionRun& action) {
  if (action.skipped || Stopping(*action.list) || !ConditionsHold(action)) {
    Skip(action);
  } else if (action.plan->delay_distribution != config::kNone) {
    Delay(action);
  } else {
    Begin(action, action.plan->dependencies.empty() ? action.list->start_ns
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
  const config::Distribution& distribution =
      context_.engine.plan().distributions[action.plan->delay_distribution];
  const int64_t delay_ns = distribution.Draw(context_.random)[0];
  action.timer.kind = Timer::Kind::kActionDelay;
  context_.timers.Arm(action.timer,
                      base::SaturatingAdd(context_.now_ns, delay_ns));
}

void Scheduler::OnDelayOver(ActionRun& action) {
  if (Stopping(*action.list)) {
    Skip(action);
  } else {
    Begin(action, action.timer.due_ns);
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
      effects_.Respond(list);
      list.request = nullptr;
    }
    if (plan.cancel_traffic_when_done) effects_.CancelTraffic(action);
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

}  // namespace distbench::engine
