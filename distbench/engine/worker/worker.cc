// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/worker.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/engine/worker/streams.h"

namespace distbench::engine {
namespace {

// How long to wait before retrying a full send queue, if no event comes
// earlier.
constexpr int64_t kRetryNs = 1'000'000;

}  // namespace

Worker::Worker(EngineState& engine, int index, protocol::Transport& transport,
               int64_t sample_memory_bytes, uint64_t seed, WorkerGroup& group)
    : context_(engine, index, transport, sample_memory_bytes, seed),
      group_(group),
      max_pending_rpcs_(engine.plan().max_pending_rpcs / engine.worker_count()),
      allowed_rpcs_(max_pending_rpcs_),
      scheduler_(context_, *this),
      streams_(context_, scheduler_, *this),
      policies_(context_, sender_, scheduler_),
      sender_(context_, streams_, policies_),
      replay_(context_, sender_, scheduler_),
      receive_(context_, group.inbox(), *this),
      handler_(context_, scheduler_, receive_),
      wait_(context_, group.activities(), *this) {
  start_timer_.kind = Timer::Kind::kStartMainList;
  start_timer_.traffic = Timer::Traffic::kOwn;
}

Worker::~Worker() {
  Message* message = messages_.TakeAll();
  while (message != nullptr) delete std::exchange(message, message->next);
}

void Worker::StartMainList(int64_t start_ns) {
  Post([this, start_ns] {
    context_.timers.Arm(start_timer_, start_ns);
    if (context_.engine.stop_scope() != StopScope::kNothing) {
      FireStoppedTimers();
    }
  });
}

void Worker::StartFaults(int64_t start_ns) {
  Post([this, start_ns] { handler_.faults()->Start(start_ns); });
}

void Worker::OnStop() {
  Post([this] {
    FireStoppedTimers();
    if (!context_.engine.IsAllStopped()) return;
    sender_.CancelAll([this](protocol::ClientCall& call) { EndCall(call); });
    streams_.StopServing();
    handler_.Stop();
  });
}

void Worker::Drain() {
  Post([this] {
    draining_ = true;
    // Calls in flight may be gone already: do not wait for an event.
    context_.transport.Wake();
  });
}

void Worker::Quit() {
  Post([this] { quitting_ = true; });
}

void Worker::Run() {
  while (!quitting_) Turn(/*may_wait=*/true);
}

bool Worker::RunOnce() {
  if (is_frozen()) return false;
  const int64_t events_before = context_.event_count;
  Turn(/*may_wait=*/false);
  return context_.event_count != events_before;
}

int64_t Worker::next_due_ns() const {
  if (is_frozen()) return faults()->frozen_until_ns();
  if (!messages_.empty() || scheduler_.has_ready_actions() ||
      handler_.may_start_admitted()) {
    return 0;
  }
  const int64_t retry_ns = sender_.must_wait_for_queue()
                               ? context_.now_ns + kRetryNs
                               : TimerQueue::kNever;
  return std::min(context_.timers.next_due_ns(), retry_ns);
}

void Worker::NoticeDrained() {
  if (!draining_ || sender_.in_flight() > 0 ||
      policies_.attempts_in_flight() > 0 || handler_.pending() > 0 ||
      streams_.serving() > 0 || activities_in_flight_ > 0 ||
      wait_.seeking() > 0 || receive_.waiting() > 0) {
    return;
  }
  draining_ = false;
  context_.recorder.Flush();
  drained_.Notify();
}

void Worker::Turn(bool may_wait) {
  const int64_t deadline_ns = DoOwnWork(/*borrowed=*/false);
  context_.transport.Poll(may_wait ? deadline_ns : 0, *this);
  // Whoever runs turns himself has many workers, whose records are in no cache:
  // they are cheaper to write to when there are many RPCs to record.
  if (may_wait) context_.recorder.Flush();
  NoticeDrained();
}

int64_t Worker::EndBorrowedTurn() {
  const int64_t deadline_ns = DoOwnWork(/*borrowed=*/true);
  context_.recorder.Flush();
  NoticeDrained();
  return deadline_ns;
}

// A turn except for the transport's events. Returns the time until which the
// next Poll() may wait.
int64_t Worker::DoOwnWork(bool borrowed) {
  context_.now_ns = context_.engine.clock().MonotonicNs();
  allowed_rpcs_ = max_pending_rpcs_;
  HandleMessages();
  // It may have to stand still. Threads that borrow turns serve others too, so
  // the worker's own thread does that: it is woken, because this is due.
  if (borrowed && faults() != nullptr &&
      faults()->next_due_ns() <= context_.now_ns) {
    return faults()->next_due_ns();
  }
  FireTimers();
  if (handler_.may_start_admitted()) handler_.StartAdmitted();
  const bool more_ready = scheduler_.RunReadyActions();
  if (more_ready) ++context_.event_count;
  const bool had_to_wait_for_queue = sender_.must_wait_for_queue();
  const bool must_wait_for_queue = sender_.SendWaiting();
  if (had_to_wait_for_queue && !must_wait_for_queue) ++context_.event_count;
  CheckUnanswered();
  if (more_ready || context_.timers.next_spins() || quitting_ ||
      handler_.may_start_admitted() || !messages_.empty()) {
    return 0;
  }
  const int64_t due_ns = context_.timers.next_due_ns();
  return must_wait_for_queue ? std::min(due_ns, context_.now_ns + kRetryNs)
                             : due_ns;
}

// What a function captures should fit two pointers: it is then not allocated
// apart from its message.
void Worker::Post(std::function<void()> run) {
  messages_.Push(new Message{std::move(run)});
  context_.transport.Wake();
}

void Worker::HandleMessages() {
  Message* message = messages_.TakeAll();
  while (message != nullptr) {
    ++context_.event_count;
    message->run();
    delete std::exchange(message, message->next);
  }
}

void Worker::FireTimers() {
  while (Timer* timer = context_.timers.PopDue(context_.now_ns)) Fire(*timer);
}

void Worker::Fire(Timer& timer) {
  ++context_.event_count;
  switch (timer.kind) {
    case Timer::Kind::kStartMainList:
      if (context_.engine.stop_scope() == StopScope::kNothing) {
        scheduler_.StartMainList(timer.due_ns);
      } else {
        group_.OnMainListFinished();
      }
      break;
    case Timer::Kind::kActionDelay:
      scheduler_.OnDelayOver(*static_cast<ActionRun*>(timer.owner));
      break;
    case Timer::Kind::kActionPace:
      scheduler_.OnPaceDue(*static_cast<ActionRun*>(timer.owner));
      break;
    case Timer::Kind::kIterationWait: {
      Iteration& iteration = *static_cast<Iteration*>(timer.owner);
      if (wait_.OnDue(iteration)) scheduler_.FinishIteration(iteration);
      break;
    }
    case Timer::Kind::kIterationReceive: {
      Iteration& iteration = *static_cast<Iteration*>(timer.owner);
      if (!receive_.OnStopped(iteration)) break;
      iteration.failed = true;
      scheduler_.FinishIteration(iteration);
      break;
    }
    case Timer::Kind::kReplaySchedule:
    case Timer::Kind::kReplayRecord:
      replay_.OnDue(timer);
      CheckPendingRpcs();
      break;
    case Timer::Kind::kReply:
      handler_.OnReplyDue(timer);
      break;
    case Timer::Kind::kStreamWrite:
      static_cast<StreamWriter*>(timer.owner)->OnDue();
      break;
    case Timer::Kind::kPolicy:
      policies_.OnDue(timer);
      break;
    case Timer::Kind::kSendQueue:
      EndCall(sender_.Expire(timer));
      break;
    case Timer::Kind::kFault:
      OnFaultDue();
      break;
  }
}

// Lets everything that waits for a time find out at once that its traffic has
// stopped. Timers of other traffic are put back.
void Worker::FireStoppedTimers() {
  std::vector<Timer*> waiting;
  while (Timer* timer = context_.timers.Pop()) waiting.push_back(timer);
  // All are put back before any fires, because firing one may cancel others.
  for (Timer* timer : waiting) context_.timers.Arm(*timer, timer->due_ns);
  for (Timer* timer : waiting) {
    if (!timer->armed() || !IsStopped(*timer)) continue;
    context_.timers.Cancel(*timer);
    Fire(*timer);
  }
}

// Whether the traffic that a timer belongs to has stopped.
bool Worker::IsStopped(const Timer& timer) const {
  return timer.traffic != Timer::Traffic::kNone &&
         context_.engine.IsStopped(timer.traffic == Timer::Traffic::kOwn);
}

void Worker::OnDone(protocol::ClientCall* call) {
  ++context_.event_count;
  context_.now_ns = call->done_ns;
  EndCall(*call);
}

// Libraries and busy workers may read a response although its deadline has just
// passed: the call then ends as if they had not. One that is read much later,
// or after a freeze, was in time: the transport has waited for it after a
// standstill.
void Worker::JudgeDeadline(protocol::ClientCall& call) {
  const int64_t late_ns = call.done_ns - call.deadline_ns;
  if (late_ns <= 0 || late_ns > protocol::kStandstillNs ||
      !call.error.empty()) {
    return;
  }
  const bool passed_in_freeze =
      faults() != nullptr && call.deadline_ns <= faults()->frozen_until_ns();
  if (passed_in_freeze) return;
  call.error = "DEADLINE_EXCEEDED: the response came after the deadline";
  call.responding_instance = protocol::kNoInstance;
  call.received_bytes = 0;
}

inline void Worker::EndCall(protocol::ClientCall& call) {
  if (call.deadline_ns != 0) JudgeDeadline(call);
  if (RpcCall::Of(call).kind != RpcCall::Kind::kOrdinary) [[unlikely]] {
    EndSpecialCall(call);
    return;
  }
  Iteration* const iteration = sender_.OnDone(call);
  if (iteration == nullptr) return;
  if (iteration->repeats) {
    // The most frequent case under load.
    if (scheduler_.StartAgain(*iteration)) {
      sender_.SendAgain(call);
      return;
    }
    sender_.LetGo(call);
  }
  scheduler_.FinishIteration(*iteration);
}

void Worker::EndStream(protocol::ClientCall& call) { EndCall(call); }

void Worker::EndSpecialCall(protocol::ClientCall& call) {
  if (RpcCall::Of(call).kind == RpcCall::Kind::kReplayed) {
    replay_.OnDone(call);
    CheckPendingRpcs();
  } else {
    policies_.OnDone(RpcCall::Of(call));
  }
}

bool Worker::SendRpcs(Iteration& iteration) {
  if (!sender_.Send(iteration)) return false;
  CheckPendingRpcs();
  return true;
}

void Worker::StartReplay(Iteration& iteration) {
  replay_.Start(iteration);
  CheckPendingRpcs();
}

// To look at all workers takes longer than to send an RPC. So a worker that has
// used up its share uses a part of what is left before it looks again.
void Worker::CheckPendingRpcs() {
  const int64_t pending = sender_.in_flight() + policies_.abandoned();
  if (pending <= allowed_rpcs_) return;
  allowed_rpcs_ =
      pending + group_.OnManyPendingRpcs() / context_.engine.worker_count();
}

void Worker::StartActivity(Iteration& iteration) {
  const int activity = iteration.action->plan->target;
  if (iteration.intended_ns != 0) {
    group_.activities().CountOffered(activity, iteration.intended_ns, 1);
  }
  if (group_.activities().waits(activity)) {
    wait_.Start(iteration);
    return;
  }
  ++activities_in_flight_;
  group_.activities().Submit(activity, iteration, *this);
}

void Worker::OnActivityDone(Iteration& iteration) {
  messages_.Push(new Message{[this, &iteration] {
    --activities_in_flight_;
    scheduler_.FinishIteration(iteration);
  }});
  // When everything is stopped, an iteration that has not begun ends on the
  // thread that stops it, which may hold locks. Other threads have nothing else
  // to do and hold none.
  if (context_.engine.IsAllStopped()) {
    context_.transport.Wake();
  } else {
    context_.transport.RunTurnOrWake();
  }
}

void Worker::PostPlace(Iteration& iteration) {
  Post([this, &iteration] {
    wait_.OnPlace(iteration);
    // A stop that came before this message could not end the iteration.
    if (!IsStopped(iteration.timer)) return;
    context_.timers.Cancel(iteration.timer);
    Fire(iteration.timer);
  });
}

void Worker::PostReceived(Iteration& iteration, const Worker& sender) {
  const auto finish = [this, &iteration] {
    receive_.OnReceived(iteration);
    scheduler_.FinishIteration(iteration);
  };
  // Not at once: the answer may have been given inside the scheduler. The own
  // loop looks at messages before it waits.
  if (&sender == this) {
    messages_.Push(new Message{finish});
  } else {
    Post(finish);
  }
}

void Worker::StartShards(ActionRun& action, int shard_count) {
  SharedAction* shared =
      shared_actions_.emplace_back(std::make_unique<SharedAction>()).get();
  shared->position = action.position;
  shared->shard_count = shard_count;
  shared->start_ns = action.start_ns;
  shared->unfinished_shards = shard_count;
  for (int shard = 0; shard < shard_count; ++shard) {
    Scheduler& scheduler = group_.worker(shard).scheduler_;
    group_.worker(shard).Post(
        [&scheduler, shared, shard] { scheduler.StartShard(*shared, shard); });
  }
}

void Worker::OnShardFinished(SharedAction& action) {
  if (--action.unfinished_shards > 0) return;
  // The main list lives on worker 0.
  Scheduler& scheduler = group_.worker(0).scheduler_;
  group_.worker(0).Post(
      [&scheduler, &action] { scheduler.OnShardsFinished(action); });
}

void Worker::OnRequest(protocol::ServerCall* call) {
  ++context_.event_count;
  context_.now_ns = call->received_ns;
  handler_.OnRequest(*call);
}

// Once a turn, in which a limited number of requests comes.
void Worker::CheckUnanswered() {
  const int64_t unanswered =
      handler_.pending() + static_cast<int64_t>(streams_.serving());
  if (unanswered > context_.engine.plan().max_pending_work) {
    group_.OnMuchPendingWork("unanswered requests",
                             "send fewer, or let them be answered sooner");
  }
}

void Worker::Respond(const ListRun& list) {
  if (context_.engine.plan().rpcs[list.request->rpc_index].stream.has_value()) {
    streams_.Respond(list);
  } else {
    handler_.Respond(list);
  }
}

void Worker::OnFaultDue() {
  if (const absl::Status done = handler_.OnFaultDue(); !done.ok()) {
    group_.OnFailure(done);
    return;
  }
  if (faults()->frozen_until_ns() <= context_.now_ns) return;
  // The worker's thread stands still, and with it the turn.
  group_.WaitOutFreeze(faults()->frozen_until_ns());
  context_.now_ns = context_.engine.clock().MonotonicNs();
}

// For engines that their owner runs.
bool Worker::is_frozen() const {
  return faults() != nullptr &&
         context_.engine.clock().MonotonicNs() < faults()->frozen_until_ns() &&
         !context_.engine.IsAllStopped();
}

}  // namespace distbench::engine
