// The part of the scheduler that accounts for RPCs that an open loop should
// have sent but never did, and for activities that it should have run.

#include <algorithm>

#include "distbench/engine/worker/scheduler.h"

namespace distbench::engine {
namespace {

// The most pieces in which a backlog is counted, so that this does not take
// long.
constexpr int64_t kMaxPieces = 100'000;

}  // namespace

// Takes numbers for `count` iterations, or as many as are left; the first is
// action.next_number. Returns false if there are none left.
bool Scheduler::ClaimNumbers(ActionRun& action, int64_t& count) {
  SharedAction* shared = action.list->shared;
  action.next_number = shared == nullptr
                           ? action.started
                           : shared->claimed_iterations.fetch_add(
                                 count, std::memory_order_relaxed);
  count =
      std::min(count, action.plan->iterations.max_count - action.next_number);
  if (count <= 0) return false;
  action.started += count;
  return true;
}

// Counts iterations that were due by now or by the end of the action, whichever
// is earlier.
void Scheduler::CountUnsent(ActionRun& action) {
  const int64_t last_ns = std::min(context_.now_ns, action.end_ns);
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
      CountUnsent(action, first_ns, 1);
    } else {
      action.pacer.Skip(count);
      // The next one may be due much later, or never.
      const int64_t end_ns = std::min(action.pacer.next_ns(), last_ns);
      CountUnsent(action, first_ns + (end_ns - first_ns) / 2, count);
    }
  }
}

void Scheduler::CountUnsent(ActionRun& action, int64_t intended_ns,
                            int64_t count) {
  WorkerProgress::Add(context_.progress.unsent, count);
  const config::IterationsPlan& plan = action.plan->iterations;
  const bool warmup = action.list->warmup ||
                      action.next_number < plan.warmup_count ||
                      intended_ns - action.start_ns < plan.warmup_ns;
  if (!warmup) CountUnsentRpcs(*action.plan, intended_ns, count);
}

// Counts the RPCs and activities of iterations that never started: the action's
// own, or those that the list it runs would have begun with. Actions that
// depend on predicates are left out, because the predicates were never drawn.
void Scheduler::CountUnsentRpcs(const config::ActionPlan& action,
                                int64_t intended_ns, int64_t iterations) {
  if (action.kind == config::ActionPlan::Kind::kRpc) {
    Fanout& fanout = *context_.engine.targets(action.target).fanout;
    const int64_t rpcs =
        iterations *
        static_cast<int64_t>(fanout.Select(context_.random, scratch_).size());
    WorkerProgress::Add(context_.progress.offered, rpcs);
    context_.recorder.CountUnsent(action.target, intended_ns,
                                  context_.now_ns - intended_ns, rpcs);
    return;
  }
  if (action.kind == config::ActionPlan::Kind::kActivity) {
    effects_.CountOfferedActivity(action.target, intended_ns, iterations);
    return;
  }
  if (action.kind != config::ActionPlan::Kind::kList) return;
  for (const config::ActionPlan& first :
       context_.engine.plan().lists[action.target].actions) {
    if (first.dependencies.empty() && first.conditions.empty() &&
        first.delay_distribution == config::kNone &&
        !first.iterations.open_loop) {
      CountUnsentRpcs(first, intended_ns, iterations);
    }
  }
}

}  // namespace distbench::engine
