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

std::unique_ptr<Faults> MakeFaults(WorkerContext& context) {
  const EngineState& engine = context.engine;
  if (!Faults::HasAny(engine.plan(), engine.instance_plan())) return nullptr;
  return std::make_unique<Faults>(context);
}

std::unique_ptr<Admission> MakeAdmission(const WorkerContext& context) {
  const EngineState& engine = context.engine;
  const std::optional<config::AdmissionPlan>& plan = engine.service().admission;
  if (!plan.has_value()) return nullptr;
  return std::make_unique<Admission>(*plan, context.worker,
                                     engine.worker_count());
}

}  // namespace

Worker::Worker(EngineState& engine, int index, protocol::Transport& transport,
               int64_t sample_memory_bytes, uint64_t seed, WorkerGroup& group)
    : context_(engine, index, transport, sample_memory_bytes, seed),
      group_(group),
      max_pending_rpcs_(engine.plan().max_pending_rpcs / engine.worker_count()),
      scheduler_(context_, *this),
      streams_(context_, *this),
      policies_(context_, sender_, scheduler_),
      sender_(context_, streams_, policies_),
      replay_(context_, sender_, scheduler_),
      faults_(MakeFaults(context_)),
      admission_(MakeAdmission(context_)),
      handler_(context_, faults_.get()),
      wait_(context_, group.activities(), *this) {
  start_timer_.kind = Timer::Kind::kStartMainList;
}

Worker::~Worker() {
  Message* message = messages_.TakeAll();
  while (message != nullptr) delete std::exchange(message, message->next);
}

void Worker::StartMainList(int64_t start_ns) {
  Post({.kind = Message::Kind::kStartMainList, .start_ns = start_ns});
}

void Worker::StartFaults(int64_t start_ns) {
  Post({.kind = Message::Kind::kStartFaults, .start_ns = start_ns});
}

void Worker::OnStop() { Post({.kind = Message::Kind::kStop}); }

void Worker::Drain() { Post({.kind = Message::Kind::kDrain}); }

void Worker::Quit() { Post({.kind = Message::Kind::kQuit}); }

void Worker::Run() {
  while (!quitting_) Turn(/*may_wait=*/true);
}

bool Worker::RunOnce() {
  if (is_frozen()) return false;
  const int64_t events_before = event_count_;
  Turn(/*may_wait=*/false);
  return event_count_ != events_before;
}

int64_t Worker::next_due_ns() const {
  if (is_frozen()) return faults_->frozen_until_ns();
  if (!messages_.empty() || scheduler_.has_ready_actions() ||
      MayStartAdmitted()) {
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
      wait_.seeking() > 0) {
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
  HandleMessages();
  // It may have to stand still. Threads that borrow turns serve others too, so
  // the worker's own thread does that: it is woken, because this is due.
  if (borrowed && faults_ != nullptr &&
      faults_->next_due_ns() <= context_.now_ns) {
    return faults_->next_due_ns();
  }
  FireTimers();
  if (MayStartAdmitted()) StartAdmitted();
  const bool more_ready = scheduler_.RunReadyActions();
  if (more_ready) ++event_count_;
  const bool had_to_wait_for_queue = sender_.must_wait_for_queue();
  const bool must_wait_for_queue = sender_.SendWaiting();
  if (had_to_wait_for_queue && !must_wait_for_queue) ++event_count_;
  if (more_ready || context_.timers.next_spins() || quitting_ ||
      MayStartAdmitted()) {
    return 0;
  }
  const int64_t due_ns = context_.timers.next_due_ns();
  return must_wait_for_queue ? std::min(due_ns, context_.now_ns + kRetryNs)
                             : due_ns;
}

void Worker::Post(Message message) {
  messages_.Push(new Message(message));
  context_.transport.Wake();
}

// For threads that have nothing else to do and hold no locks.
void Worker::PostAndMayRun(Message message) {
  messages_.Push(new Message(message));
  context_.transport.RunTurnOrWake();
}

void Worker::HandleMessages() {
  Message* message = messages_.TakeAll();
  while (message != nullptr) {
    Handle(*message);
    delete std::exchange(message, message->next);
  }
}

void Worker::Handle(const Message& message) {
  ++event_count_;
  switch (message.kind) {
    case Message::Kind::kStartMainList:
      context_.timers.Arm(start_timer_, message.start_ns);
      if (context_.engine.stop_scope() != StopScope::kNothing) {
        FireStoppedTimers();
      }
      break;
    case Message::Kind::kStartFaults:
      faults_->Start(message.start_ns);
      break;
    case Message::Kind::kStop:
      FireStoppedTimers();
      if (context_.engine.stop_scope() == StopScope::kEverything) {
        sender_.CancelAll(
            [this](protocol::ClientCall& call) { EndCall(call); });
        StopServing();
      }
      break;
    case Message::Kind::kStartShard:
      scheduler_.StartShard(*message.shared, message.shard);
      break;
    case Message::Kind::kShardsFinished:
      scheduler_.OnShardsFinished(*message.shared);
      break;
    case Message::Kind::kActivityDone:
      --activities_in_flight_;
      scheduler_.FinishIteration(*message.iteration);
      break;
    case Message::Kind::kPlaceGiven:
      wait_.OnPlace(*message.iteration, message.start_ns);
      // A stop that came before this message could not end the iteration.
      if (scheduler_.IsStopped(*message.iteration->action)) {
        context_.timers.Cancel(message.iteration->timer);
        Fire(message.iteration->timer);
      }
      break;
    case Message::Kind::kDrain:
      draining_ = true;
      // Calls in flight may be gone already: do not wait for an event.
      context_.transport.Wake();
      break;
    case Message::Kind::kQuit:
      quitting_ = true;
      break;
  }
}

void Worker::FireTimers() {
  while (Timer* timer = context_.timers.PopDue(context_.now_ns)) Fire(*timer);
}

void Worker::Fire(Timer& timer) {
  ++event_count_;
  switch (timer.kind) {
    case Timer::Kind::kStartMainList:
      if (context_.engine.stop_scope() == StopScope::kNothing) {
        scheduler_.StartMainList(timer.due_ns);
      } else {
        OnMainListFinished();
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
  switch (timer.kind) {
    case Timer::Kind::kStartMainList:
      return true;
    case Timer::Kind::kActionDelay:
    case Timer::Kind::kActionPace:
      return scheduler_.IsStopped(*static_cast<ActionRun*>(timer.owner));
    case Timer::Kind::kIterationWait:
      return scheduler_.IsStopped(
          *static_cast<Iteration*>(timer.owner)->action);
    case Timer::Kind::kReplaySchedule:
    case Timer::Kind::kReplayRecord:
      return scheduler_.IsStopped(ReplayRunner::ActionOf(timer));
    case Timer::Kind::kReply:
      return context_.engine.stop_scope() == StopScope::kEverything;
    case Timer::Kind::kStreamWrite:  // ends with its RPC
    case Timer::Kind::kSendQueue:    // likewise
    case Timer::Kind::kFault:        // ends in StopServing()
      return false;
    case Timer::Kind::kPolicy:
      return policies_.IsStopped(timer);
  }
  return true;
}

void Worker::OnDone(protocol::ClientCall* call) {
  ++event_count_;
  context_.now_ns = call->done_ns;
  EndCall(*call);
}

inline void Worker::EndCall(protocol::ClientCall& call) {
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

void Worker::CheckPendingRpcs() {
  if (sender_.in_flight() + policies_.abandoned() > max_pending_rpcs_)
    group_.OnManyPendingRpcs();
}

void Worker::StartActivity(Iteration& iteration) {
  const int activity = iteration.action->plan->target;
  if (iteration.intended_ns != 0) {
    CountOfferedActivity(activity, iteration.intended_ns, 1);
  }
  if (group_.activities().waits(activity)) {
    wait_.Start(iteration);
    return;
  }
  ++activities_in_flight_;
  group_.activities().Submit(activity, iteration, *this);
}

void Worker::CountOfferedActivity(int activity, int64_t due_ns, int64_t count) {
  group_.activities().CountOffered(activity, due_ns, count);
}

void Worker::OnActivityDone(Iteration& iteration) {
  const Message done = {.kind = Message::Kind::kActivityDone,
                        .iteration = &iteration};
  // When everything is stopped, an iteration that has not begun ends on the
  // thread that stops it, which may hold locks.
  if (context_.engine.stop_scope() == StopScope::kEverything) {
    Post(done);
  } else {
    PostAndMayRun(done);
  }
}

void Worker::PostPlace(Iteration& iteration, int64_t free_since_ns) {
  Post({.kind = Message::Kind::kPlaceGiven,
        .start_ns = free_since_ns,
        .iteration = &iteration});
}

void Worker::StartShards(ActionRun& action, int shard_count) {
  SharedAction* shared =
      shared_actions_.emplace_back(std::make_unique<SharedAction>()).get();
  shared->position = action.position;
  shared->shard_count = shard_count;
  shared->start_ns = action.start_ns;
  shared->unfinished_shards = shard_count;
  for (int shard = 0; shard < shard_count; ++shard) {
    group_.worker(shard).Post(
        {.kind = Message::Kind::kStartShard, .shared = shared, .shard = shard});
  }
}

void Worker::OnShardFinished(SharedAction& action) {
  if (--action.unfinished_shards > 0) return;
  // The main list lives on worker 0.
  group_.worker(0).Post(
      {.kind = Message::Kind::kShardsFinished, .shared = &action});
}

void Worker::OnTooMany(const char* what) { group_.OnTooMany(what); }

void Worker::OnMainListFinished() { group_.OnMainListFinished(); }

void Worker::CancelTraffic(const ActionRun& action) {
  group_.StopOwnTraffic(
      absl::StrCat("action \"", action.plan->name, "\" has ended the traffic"));
}

// The part of the worker that serves requests: admission, faults and answers.

namespace {

constexpr char kTooManyRequests[] =
    "RESOURCE_EXHAUSTED: too many requests wait at the server";

}  // namespace

void Worker::OnRequest(protocol::ServerCall* call) {
  ++event_count_;
  context_.now_ns = call->received_ns;
  const int list = handler_.Admit(*call);
  if (list != config::kNone) AdmitOrQueue(list, *call);
}

void Worker::AdmitOrQueue(int list, protocol::ServerCall& request) {
  if (admission_ == nullptr) {
    scheduler_.StartHandler(list, request);
    return;
  }
  protocol::ServerCall* const refused =
      admission_->Add(request, scheduler_.handlers_in_progress());
  if (refused != nullptr) handler_.RefuseAdmitted(*refused, kTooManyRequests);
  StartAdmitted();
}

// Not from inside the scheduler: lists that end at once would be nested in each
// other.
void Worker::StartAdmitted() {
  while (protocol::ServerCall* request = admission_->Next(
             scheduler_.handlers_in_progress(), context_.now_ns)) {
    ++event_count_;
    scheduler_.StartHandler(handler_.ListOf(*request), *request);
  }
}

// Everything is stopped.
void Worker::StopServing() {
  streams_.StopServing();
  if (faults_ != nullptr) {
    faults_->Stop();
    handler_.OnFaultsChanged();
  }
  if (admission_ == nullptr) return;
  while (protocol::ServerCall* request = admission_->Drop()) {
    handler_.StopAdmitted(*request);
  }
}

void Worker::Respond(const ListRun& list) {
  if (context_.engine.plan().rpcs[list.request->rpc_index].stream.has_value()) {
    streams_.Respond(list);
  } else {
    handler_.Respond(list);
  }
}

void Worker::StartStreamHandler(int list, protocol::ServerCall& call) {
  scheduler_.StartHandler(list, call);
}

void Worker::OnFaultDue() {
  const absl::Status done = faults_->OnDue();
  if (!done.ok()) {
    group_.OnFailure(done);
    return;
  }
  handler_.OnFaultsChanged();
  if (faults_->frozen_until_ns() <= context_.now_ns) return;
  // The worker's thread stands still, and with it the turn.
  group_.WaitOutFreeze(faults_->frozen_until_ns());
  context_.now_ns = context_.engine.clock().MonotonicNs();
}

// For engines that their owner runs.
bool Worker::is_frozen() const {
  return faults_ != nullptr &&
         context_.engine.clock().MonotonicNs() < faults_->frozen_until_ns() &&
         context_.engine.stop_scope() != StopScope::kEverything;
}

}  // namespace distbench::engine
