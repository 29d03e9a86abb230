// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/queue/event_queue.h"

#include <grpc/slice.h>
#include <grpc/support/time.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "distbench/base/clock.h"
#include "glog/logging.h"

namespace distbench::protocol {

void Turn::TakeBack() {
  State seen = state_;
  while (seen != State::kAwake) {
    if (seen == State::kWaitedFor) {
      state_.wait(seen);
      seen = state_;
      continue;
    }
    const State wanted =
        seen == State::kBorrowed ? State::kWaitedFor : State::kAwake;
    if (state_.compare_exchange_strong(seen, wanted)) seen = wanted;
  }
}

void Turn::GiveBack() {
  State expected = State::kBorrowed;
  if (state_.compare_exchange_strong(expected, State::kLending)) return;
  state_ = State::kAwake;
  state_.notify_one();
}

namespace {

// Turns that a thread runs for a worker before it wakes the worker: threads of
// gRPC and of handler pools have other work to do.
constexpr int kMaxBorrowedTurns = 16;

// The worker does not sleep for less than this, which is about the time of a
// wake-up.
constexpr int64_t kShortestSleepNs = base::WakeAhead::kMaxNs;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

grpc_event WaitForNext(grpc_completion_queue* queue) {
  return grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_MONOTONIC),
                                    nullptr);
}

grpc_event NoEvent() {
  return {.type = GRPC_QUEUE_TIMEOUT, .success = 0, .tag = nullptr};
}

grpc_event WakeUp() {
  return {.type = GRPC_OP_COMPLETE, .success = 1, .tag = nullptr};
}

grpc_call* MakeWakeCall(grpc_completion_queue* queue) {
  grpc_channel* channel =
      grpc_lame_client_channel_create("wake", GRPC_STATUS_CANCELLED, "");
  grpc_call* call =
      grpc_channel_create_call(channel, nullptr, GRPC_PROPAGATE_DEFAULTS, queue,
                               grpc_slice_from_static_string("/wake"), nullptr,
                               gpr_inf_future(GPR_CLOCK_MONOTONIC), nullptr);
  grpc_channel_destroy(channel);  // the call keeps it alive
  return call;
}

}  // namespace

EventQueue::EventQueue(std::unique_ptr<WakeTimer::Alarm> alarm, int64_t spin_ns)
    : spin_ns_(spin_ns),
      queue_(grpc_completion_queue_create_for_next(nullptr)),
      wake_call_(MakeWakeCall(queue_)),
      alarm_(std::move(alarm)) {
  alarm_->CallBack([this] { OnAlarm(); });
}

EventQueue::~EventQueue() {
  ShutDown();
  grpc_call_unref(wake_call_);
  while (WaitForNext(queue_).type != GRPC_QUEUE_SHUTDOWN) {
  }
  grpc_completion_queue_destroy(queue_);
}

void EventQueue::Poll(int64_t deadline_ns, TransportEvents& events) {
  const bool woken = wake_pending_.exchange(false);
  const bool wanted = turn_wanted_.exchange(false);
  const bool ran_posted = RunPosted(events);
  const int64_t now_ns = base::NowNs();
  const bool may_wait =
      !woken && !wanted && !ran_posted && deadline_ns > now_ns;
  grpc_event event = may_wait ? Wait(deadline_ns, now_ns, events) : Next();
  for (int i = 1; event.type == GRPC_OP_COMPLETE; ++i) {
    const bool woken = Run(event, events);
    if (woken || i == kMaxCompletions) break;
    event = Next();
  }
  if (!ran_posted) RunPosted(events);
}

// Returns the next event without waiting.
grpc_event EventQueue::Next() {
  if (!in_use_) return NoEvent();
  return grpc_completion_queue_next(queue_, gpr_inf_past(GPR_CLOCK_MONOTONIC),
                                    nullptr);
}

bool EventQueue::RunPosted(TransportEvents& events) {
  for (int i = 0; i < kMaxCompletions; ++i) {
    if (posted_ == nullptr) posted_ = mailbox_.TakeAll();
    if (posted_ == nullptr) return i > 0;
    Completion* completion = std::exchange(posted_, posted_->next);
    completion->OnComplete(/*ok=*/true, events);
  }
  return true;
}

grpc_event EventQueue::Wait(int64_t deadline_ns, int64_t now_ns,
                            TransportEvents& events) {
  const bool soon = deadline_ns - now_ns <= kShortestSleepNs;
  if (soon) return Spin(deadline_ns);
  if (spin_ns_ > 0) {
    const grpc_event event = Spin(std::min(deadline_ns, now_ns + spin_ns_));
    if (event.type == GRPC_OP_COMPLETE || has_work()) return event;
  }
  return Block(deadline_ns, events);
}

grpc_event EventQueue::Spin(int64_t until_ns) {
  do {
    const grpc_event event = Next();
    if (event.type != GRPC_QUEUE_TIMEOUT) return event;
  } while (!has_work() && base::NowNs() < until_ns);
  return NoEvent();
}

grpc_event EventQueue::Block(int64_t deadline_ns, TransportEvents& events) {
  SetAlarm(deadline_ns);
  deadline_ns_ = deadline_ns;
  events_ = &events;
  sleeps_at_queue_ = in_use_.load();
  turn_.Sleep(may_lend_ && events.LendsTurns());
  grpc_event event = NoEvent();
  // Work that arrives after this sees that the worker sleeps.
  const bool sleeps = !alarm_went_off_ && !has_work();
  if (sleeps) event = Sleep();
  turn_.TakeBack();
  if (!sleeps && alarm_went_off_) {
    // Either the time has come, or an earlier alarm was still on its way when
    // this one was set. In the latter case the next wait sets it again.
    alarm_ns_ = kNoAlarm;
  }
  const bool by_alarm = sleeps && alarm_went_off_ && event.tag == nullptr;
  if (by_alarm) ahead_.OnWoken(alarm_ns_, base::NowNs());
  return event;
}

grpc_event EventQueue::Sleep() {
  if (sleeps_at_queue_) return WaitForNext(queue_);
  wake_ups_.acquire();
  return WakeUp();
}

void EventQueue::SetAlarm(int64_t deadline_ns) {
  const int64_t due_ns =
      deadline_ns == kNever ? kNever : deadline_ns - ahead_.ns();
  if (due_ns == alarm_ns_) return;
  alarm_ns_ = due_ns;
  alarm_went_off_ = false;
  if (due_ns != kNever) alarm_->Set(due_ns);
}

void EventQueue::OnAlarm() {
  alarm_went_off_ = true;
  if (!turn_.worker_is_awake()) Wake();
}

void EventQueue::Wake() {
  if (wake_pending_.exchange(true)) return;
  // A worker that is awake looks for work before it sleeps.
  if (!turn_.worker_is_awake()) StartWakeUp();
}

void EventQueue::StartWakeUp() {
  if (!sleeps_at_queue_) {
    wake_ups_.release();
    return;
  }
  CHECK_EQ(grpc_call_start_batch(wake_call_, nullptr, 0, nullptr, nullptr),
           GRPC_CALL_OK);
}

void EventQueue::Post(Completion& completion) {
  posting_.fetch_add(1, std::memory_order_relaxed);
  mailbox_.Push(&completion);
  RunTurns();
  posting_.fetch_sub(1, std::memory_order_release);
}

void EventQueue::RunTurnOrWake() {
  posting_.fetch_add(1, std::memory_order_relaxed);
  turn_wanted_ = true;
  RunTurns();
  posting_.fetch_sub(1, std::memory_order_release);
}

void EventQueue::RunTurns() {
  for (int i = 0; i < kMaxBorrowedTurns; ++i) {
    if (!turn_.TryBorrow()) {
      // The thread that has the turn looks again before it sleeps or after it
      // gives the turn back.
      if (turn_.must_wake_worker()) Wake();
      return;
    }
    const bool may_sleep_on = RunBorrowedTurn();
    turn_.GiveBack();
    if (!may_sleep_on) break;
    if (!turn_wanted_ && mailbox_.empty()) return;
  }
  Wake();
}

bool EventQueue::RunBorrowedTurn() {
  turn_wanted_ = false;
  RunPosted(*events_);
  const int64_t deadline_ns = events_->EndBorrowedTurn();
  const bool must_poll = in_use_ && !sleeps_at_queue_;
  if (must_poll || posted_ != nullptr) return false;
  if (deadline_ns >= deadline_ns_) return true;
  if (deadline_ns - base::NowNs() <= kShortestSleepNs) return false;
  SetAlarm(deadline_ns);
  deadline_ns_ = deadline_ns;
  return true;
}

bool EventQueue::Run(const grpc_event& event, TransportEvents& events) {
  if (event.tag == nullptr) {
    wake_pending_ = false;
    return true;
  }
  static_cast<Completion*>(event.tag)->OnComplete(event.success, events);
  return false;
}

void EventQueue::ShutDown() {
  // An alarm that is going off may have seen the worker blocked and still try
  // to wake it, although other events have woken it since.
  alarm_.reset();
  // So may the thread that posted the last completion, which has run already.
  while (posting_.load(std::memory_order_acquire) > 0) {
    std::this_thread::yield();
  }
  grpc_completion_queue_shutdown(queue_);
}

void EventQueue::DrainForever(TransportEvents& events) {
  while (RunPosted(events)) {
  }
  ShutDown();
  while (true) {
    const grpc_event event = WaitForNext(queue_);
    if (event.type == GRPC_QUEUE_SHUTDOWN) return;
    Run(event, events);
  }
}

}  // namespace distbench::protocol
