// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/poller.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>

#include "distbench/base/clock.h"
#include "distbench/base/timers.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

// The worker does not sleep for a shorter time, which is about the cost of a
// wake-up.
constexpr int64_t kShortestSleepNs = base::WakeAhead::kMaxNs;

constexpr int kForever = -1;

}  // namespace

absl::Status Poller::Open() {
  const auto opens = [](base::FileDescriptor& descriptor, int fd) {
    descriptor = base::FileDescriptor(fd);
    return descriptor.is_open();
  };
  // Edge-triggered, so that they need not be read.
  constexpr uint32_t kEvents = EPOLLIN | EPOLLET;
  const bool is_open =
      opens(epoll_, epoll_create1(EPOLL_CLOEXEC)) &&
      opens(wake_fd_, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) &&
      opens(timer_fd_,
            timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) &&
      Control(EPOLL_CTL_ADD, wake_fd_.get(), kEvents, nullptr) &&
      Control(EPOLL_CTL_ADD, timer_fd_.get(), kEvents, nullptr);
  return is_open ? absl::OkStatus()
                 : base::NoDescriptorError("the poller of a worker", errno);
}

bool Poller::Control(int operation, int fd, uint32_t epoll_events, void* tag) {
  epoll_event event = {};
  event.events = epoll_events;
  event.data.ptr = tag;
  return epoll_ctl(epoll_.get(), operation, fd, &event) == 0;
}

absl::Status Poller::Watch(int fd, uint32_t epoll_events, Watcher& watcher) {
  Forget(watcher);
  return Control(EPOLL_CTL_ADD, fd, epoll_events, &watcher)
             ? absl::OkStatus()
             : base::NoDescriptorError("a watch of a socket", errno);
}

void Poller::Rewatch(int fd, uint32_t epoll_events, Watcher& watcher) {
  PCHECK(Control(EPOLL_CTL_MOD, fd, epoll_events, &watcher));
}

void Poller::Forget(const Watcher& watcher) {
  for (int i = next_ready_; i < ready_count_; ++i) {
    if (ready_[i].data.ptr == &watcher) ready_[i].data.ptr = nullptr;
  }
}

bool Poller::Poll(int64_t deadline_ns, TransportEvents& events) {
  const bool looks = next_ready_ == ready_count_;
  if (looks) {
    ready_count_ = Wait(deadline_ns);
    next_ready_ = 0;
  }
  work_.StartTurn();
  bool was_told = false;
  while (next_ready_ < ready_count_ && !work_.is_enough()) {
    const epoll_event& ready = ready_[next_ready_++];
    auto* watcher = static_cast<Watcher*>(ready.data.ptr);
    if (watcher == nullptr) continue;
    watcher->OnReady(ready.events, events);
    was_told = true;
  }
  // What the last Poll() has left may be the timer's, or was forgotten. That
  // says nothing of the sockets.
  return was_told || !looks;
}

// Returns the number of entries of ready_ that were filled in.
int Poller::Wait(int64_t deadline_ns) {
  if (deadline_ns <= 0 || TakeWake()) return Look(0);
  const int64_t now_ns = base::NowNs();
  const int64_t left_ns = deadline_ns - now_ns;
  if (left_ns <= 0) return Look(0);
  if (left_ns <= kShortestSleepNs) return Spin(deadline_ns);
  const int64_t spin_ns = std::max(spin_ns_, brief_waits_.spin_ns());
  if (spin_ns > 0) {
    const int count = Spin(now_ns + std::min(left_ns, spin_ns));
    if (count > 0 || left_ns <= spin_ns || TakeWake()) return count;
  }
  const int count = Block(deadline_ns);
  brief_waits_.OnSlept(base::NowNs() - now_ns);
  TakeWake();
  return count;
}

// Returns whether Wake() was called since the previous TakeWake().
bool Poller::TakeWake() {
  return wake_requested_.load(std::memory_order_relaxed) &&
         wake_requested_.exchange(false, std::memory_order_acq_rel);
}

int Poller::Spin(int64_t until_ns) {
  int count;
  do {
    count = Look(0);
  } while (count == 0 && !wake_requested_.load(std::memory_order_relaxed) &&
           base::NowNs() < until_ns);
  return count;
}

int Poller::Block(int64_t deadline_ns) {
  if (deadline_ns != kNoDeadline) SetTimer(deadline_ns - ahead_.ns());
  // A thread that calls Wake() after this line makes a system call; the check
  // below sees earlier calls.
  blocked_.store(true, std::memory_order_seq_cst);
  const bool woken = wake_requested_.load(std::memory_order_seq_cst);
  const int count = Look(woken ? 0 : kForever);
  blocked_.store(false, std::memory_order_relaxed);
  if (deadline_ns != kNoDeadline && !woken) NoteLateness(count);
  return count;
}

// If only the timer has ended a sleep, records how late that was.
void Poller::NoteLateness(int count) {
  const bool nothing_else = count == 1 && ready_[0].data.ptr == nullptr &&
                            !wake_requested_.load(std::memory_order_relaxed);
  if (!nothing_else) return;
  const int64_t now_ns = base::NowNs();
  if (now_ns >= timer_ns_) ahead_.OnWoken(timer_ns_, now_ns);
}

int Poller::Look(int timeout_ms) {
  const int count = epoll_wait(epoll_.get(), ready_, kMaxEvents, timeout_ms);
  PCHECK(count >= 0 || errno == EINTR);
  return std::max(count, 0);
}

void Poller::SetTimer(int64_t due_ns) {
  if (due_ns == timer_ns_) return;
  timer_ns_ = due_ns;
  base::ArmTimer(timer_fd_.get(), due_ns);
}

void Poller::Wake() {
  wake_requested_.store(true, std::memory_order_seq_cst);
  if (blocked_.load(std::memory_order_seq_cst)) {
    eventfd_write(wake_fd_.get(), 1);
  }
}

}  // namespace distbench::protocol
