#include "distbench/protocol/grpc/event_queue.h"

#include <grpc/slice.h>
#include <grpc/support/time.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "distbench/base/clock.h"
#include "glog/logging.h"

namespace distbench {
namespace {

// Completions per Poll(): enough to pay for the loop around it, few enough
// (some hundred microseconds of work) not to starve timers.
constexpr int kMaxCompletions = 64;

// For a shorter time the worker does not sleep: that is about what being woken
// takes.
constexpr int64_t kShortestSleepNs = WakeAhead::kMaxNs;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

int64_t NowNs() { return RealClock().MonotonicNs(); }

grpc_event NextWithoutWaiting(grpc_completion_queue* queue) {
  return grpc_completion_queue_next(queue, gpr_inf_past(GPR_CLOCK_MONOTONIC),
                                    nullptr);
}

grpc_event WaitForNext(grpc_completion_queue* queue) {
  return grpc_completion_queue_next(queue, gpr_inf_future(GPR_CLOCK_MONOTONIC),
                                    nullptr);
}

grpc_event NoEvent() {
  return {.type = GRPC_QUEUE_TIMEOUT, .success = 0, .tag = nullptr};
}

grpc_call* MakeWakeCall(grpc_completion_queue* queue) {
  grpc_channel* channel =
      grpc_lame_client_channel_create("wake", GRPC_STATUS_CANCELLED, "");
  grpc_call* call =
      grpc_channel_create_call(channel, nullptr, GRPC_PROPAGATE_DEFAULTS, queue,
                               grpc_slice_from_static_string("/wake"), nullptr,
                               gpr_inf_future(GPR_CLOCK_MONOTONIC), nullptr);
  grpc_channel_destroy(channel);  // the call keeps it
  return call;
}

}  // namespace

EventQueue::EventQueue(WakeTimer& timer, int64_t spin_ns)
    : spin_ns_(spin_ns),
      queue_(grpc_completion_queue_create_for_next(nullptr)),
      wake_call_(MakeWakeCall(queue_)),
      alarm_(std::in_place, timer, [this] { OnAlarm(); }) {}

EventQueue::~EventQueue() {
  ShutDown();
  grpc_call_unref(wake_call_);
  while (WaitForNext(queue_).type != GRPC_QUEUE_SHUTDOWN) {
  }
  grpc_completion_queue_destroy(queue_);
}

void EventQueue::Poll(int64_t deadline_ns, TransportEvents& events) {
  const bool ran_posted = RunPosted(events);
  const int64_t now_ns = NowNs();
  grpc_event event = ran_posted || deadline_ns <= now_ns
                         ? NextWithoutWaiting(queue_)
                         : Wait(deadline_ns, now_ns);
  for (int i = 1; event.type == GRPC_OP_COMPLETE; ++i) {
    const bool woken = Run(event, events);
    if (woken || i == kMaxCompletions) break;
    event = NextWithoutWaiting(queue_);
  }
  if (!ran_posted) RunPosted(events);
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

grpc_event EventQueue::Wait(int64_t deadline_ns, int64_t now_ns) {
  const bool soon = deadline_ns - now_ns <= kShortestSleepNs;
  if (soon) return Spin(deadline_ns);
  if (spin_ns_ > 0) {
    const grpc_event event = Spin(std::min(deadline_ns, now_ns + spin_ns_));
    if (event.type == GRPC_OP_COMPLETE || !mailbox_.empty()) return event;
  }
  return Block(deadline_ns);
}

grpc_event EventQueue::Spin(int64_t until_ns) {
  do {
    const grpc_event event = NextWithoutWaiting(queue_);
    if (event.type != GRPC_QUEUE_TIMEOUT) return event;
  } while (mailbox_.empty() && NowNs() < until_ns);
  return NoEvent();
}

grpc_event EventQueue::Block(int64_t deadline_ns) {
  SetAlarm(deadline_ns == kNever ? kNever : deadline_ns - ahead_.ns());
  blocked_ = true;
  grpc_event event = NoEvent();
  if (alarm_went_off_) {
    // Either it is time, or an earlier alarm was still on its way when this one
    // was set: then the next wait sets it again.
    alarm_ns_ = kNoAlarm;
  } else if (mailbox_.empty()) {  // what comes later sees blocked_
    event = WaitForNext(queue_);
    const bool by_alarm = alarm_went_off_ && event.tag == nullptr;
    if (by_alarm) ahead_.OnWoken(alarm_ns_, NowNs());
  }
  blocked_ = false;
  return event;
}

void EventQueue::SetAlarm(int64_t due_ns) {
  if (due_ns == alarm_ns_) return;
  alarm_ns_ = due_ns;
  alarm_went_off_ = false;
  if (due_ns != kNever) alarm_->Set(due_ns);
}

void EventQueue::OnAlarm() {
  alarm_went_off_ = true;
  if (blocked_) Wake();
}

void EventQueue::Wake() {
  if (wake_pending_.exchange(true, std::memory_order_acq_rel)) return;
  CHECK_EQ(grpc_call_start_batch(wake_call_, nullptr, 0, nullptr, nullptr),
           GRPC_CALL_OK);
}

void EventQueue::Post(Completion& completion) {
  posting_.fetch_add(1, std::memory_order_relaxed);
  mailbox_.Push(&completion);
  if (blocked_) Wake();
  posting_.fetch_sub(1, std::memory_order_release);
}

bool EventQueue::Run(const grpc_event& event, TransportEvents& events) {
  if (event.tag == nullptr) {
    wake_pending_.exchange(false, std::memory_order_acq_rel);
    return true;
  }
  static_cast<Completion*>(event.tag)->OnComplete(event.success, events);
  return false;
}

void EventQueue::ShutDown() {
  // An alarm that is going off might still want to wake a worker that it saw
  // blocked, although other events have woken it since.
  alarm_.reset();
  // Likewise who has posted the last completion, which has been run already.
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

}  // namespace distbench
