// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/replay_runner.h"

#include <algorithm>
#include <limits>

#include "distbench/base/saturating_add.h"

namespace distbench::engine {

ReplayRunner::ReplayRunner(WorkerContext& context, RpcSender& sender,
                           Scheduler& scheduler)
    : context_(context),
      sender_(sender),
      scheduler_(scheduler),
      rpc_count_(static_cast<int>(context.engine.plan().rpcs.size())) {}

void ReplayRunner::Start(Iteration& iteration) {
  const int trace = iteration.action->plan->target;
  ReplayRun& run = *runs_.Get();
  SetUp(run, trace, iteration);
  // One more than the number of records, so that the run cannot end before it
  // has begun.
  iteration.outstanding = static_cast<int>(run.table->records().size()) + 1;
  for (ReplaySchedule& schedule : run.schedules) Advance(run, schedule);
  SendReady(run);
  --iteration.outstanding;
  FinishIfDone(run);
}

void ReplayRunner::SetUp(ReplayRun& run, int trace, Iteration& iteration) {
  const EngineState& engine = context_.engine;
  iteration.replay = &run;
  run.iteration = &iteration;
  run.table = &engine.replay_table(trace);
  run.rpc_index = rpc_count_ + trace;
  run.execution = executions_++;
  run.start_ns =
      iteration.intended_ns != 0 ? iteration.intended_ns : context_.now_ns;
  // A request may arrive, and its handler start a replay, before this instance
  // knows when traffic starts.
  const int64_t traffic_start_ns = engine.traffic_start_ns();
  SetUp(run, run.schedules[0], run.table->after_trace_start(), run.start_ns);
  SetUp(run, run.schedules[1], run.table->after_traffic_start(),
        traffic_start_ns != 0 ? traffic_start_ns : run.start_ns);
  run.waiting.resize(run.table->waiting_count());
  for (size_t i = 0; i < run.table->records().size(); ++i) {
    const ReplayTable::Record& record = run.table->records()[i];
    if (record.waiting_slot == config::kNone) continue;
    WaitingRecord& waiting = run.waiting[record.waiting_slot];
    waiting.run = &run;
    waiting.position = static_cast<int>(i);
    waiting.remaining_priors = record.prior_count;
    waiting.base_ns = std::numeric_limits<int64_t>::min();
    SetUpTimer(waiting.timer, Timer::Kind::kReplayRecord,
               *iteration.action->list, &waiting);
  }
}

void ReplayRunner::SetUp(ReplayRun& run, ReplaySchedule& schedule,
                         const std::vector<int>& positions, int64_t base_ns) {
  schedule.run = &run;
  schedule.positions = &positions;
  schedule.next = 0;
  schedule.base_ns = base_ns;
  SetUpTimer(schedule.timer, Timer::Kind::kReplaySchedule,
             *run.iteration->action->list, &schedule);
}

void ReplayRunner::OnDue(Timer& timer) {
  ReplayRun* run;
  if (timer.kind == Timer::Kind::kReplaySchedule) {
    ReplaySchedule& schedule = *static_cast<ReplaySchedule*>(timer.owner);
    run = schedule.run;
    Advance(*run, schedule);
  } else {
    const WaitingRecord& record = *static_cast<WaitingRecord*>(timer.owner);
    run = record.run;
    ready_.push_back({record.position, timer.due_ns});
  }
  SendReady(*run);
  FinishIfDone(*run);
}

void ReplayRunner::OnDone(protocol::ClientCall& client) {
  RpcCall& call = RpcCall::Of(client);
  Iteration& iteration = *call.iteration;
  ReplayRun& run = *iteration.replay;
  const ReplayTable::Record& record = run.table->records()[call.record];
  const int64_t end_ns = client.done_ns;
  context_.recorder.KeepReplayed({.sample = sender_.End(call),
                                  .execution = run.execution,
                                  .execution_start_ns = run.start_ns,
                                  .record = record.number});
  Release(run, record.end_followers, end_ns);
  SendReady(run);
  --iteration.outstanding;
  FinishIfDone(run);
}

// Makes the records that are due ready, and waits for the next one.
void ReplayRunner::Advance(ReplayRun& run, ReplaySchedule& schedule) {
  const std::vector<int>& positions = *schedule.positions;
  const bool stopped = IsStopped(run);
  for (; schedule.next < positions.size(); ++schedule.next) {
    const int position = positions[schedule.next];
    const int64_t due_ns = base::SaturatingAdd(
        schedule.base_ns, run.table->records()[position].plan->offset_ns);
    if (due_ns > context_.now_ns && !stopped) {
      context_.timers.Arm(schedule.timer, due_ns);
      return;
    }
    ready_.push_back({position, due_ns});
  }
}

// Tells the followers of a record that it has started or ended.
void ReplayRunner::Release(ReplayRun& run, const std::vector<int>& followers,
                           int64_t time_ns) {
  for (const int position : followers) {
    const ReplayTable::Record& record = run.table->records()[position];
    WaitingRecord& waiting = run.waiting[record.waiting_slot];
    waiting.base_ns = std::max(waiting.base_ns, time_ns);
    if (--waiting.remaining_priors > 0) continue;
    const int64_t due_ns =
        base::SaturatingAdd(waiting.base_ns, record.plan->offset_ns);
    if (due_ns > context_.now_ns && !IsStopped(run)) {
      context_.timers.Arm(waiting.timer, due_ns);
    } else {
      ready_.push_back({position, due_ns});
    }
  }
}

// Sending one record may make others ready. The loop handles them too, so that
// a chain of any length needs no recursion.
void ReplayRunner::SendReady(ReplayRun& run) {
  for (size_t i = 0; i < ready_.size(); ++i) {
    const auto [position, due_ns] = ready_[i];
    if (IsStopped(run)) {
      Drop(run, position);
    } else {
      Send(run, position, due_ns);
    }
  }
  ready_.clear();
}

void ReplayRunner::Send(ReplayRun& run, int position, int64_t due_ns) {
  const ReplayTable::Record& record = run.table->records()[position];
  const config::ReplayRecordPlan& plan = *record.plan;
  RpcCall& call = sender_.NewCall(*run.iteration);
  call.record = position;
  call.intended_ns = std::max(due_ns, run.start_ns);
  protocol::ClientCall& client = call.client;
  client.peer = record.route;
  client.rpc_index = run.rpc_index;
  client.server_instance = record.server_instance;
  client.request_bytes = plan.request_bytes;
  client.response_bytes = plan.response_bytes;
  client.processing_ns = plan.processing_ns;
  client.deadline_ns = 0;
  client.sent_ns = 0;
  if (!run.iteration->action->list->trace_context.empty()) {
    sender_.SetTrace(call, /*fanout_index=*/record.number);
  }
  sender_.Submit(&call);
  // Transports that batch calls set sent_ns later.
  const int64_t start_ns = client.sent_ns != 0
                               ? client.sent_ns
                               : context_.engine.clock().MonotonicNs();
  Release(run, record.start_followers, start_ns);
}

void ReplayRunner::Drop(ReplayRun& run, int position) {
  const ReplayTable::Record& record = run.table->records()[position];
  Release(run, record.start_followers, context_.now_ns);
  Release(run, record.end_followers, context_.now_ns);
  --run.iteration->outstanding;
}

void ReplayRunner::FinishIfDone(ReplayRun& run) {
  Iteration& iteration = *run.iteration;
  if (iteration.outstanding > 0) return;
  runs_.Put(&run);
  scheduler_.FinishIteration(iteration);
}

}  // namespace distbench::engine
