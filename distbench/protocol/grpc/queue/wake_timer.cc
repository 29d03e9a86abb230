// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/queue/wake_timer.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <cerrno>
#include <utility>

#include "distbench/base/threads.h"
#include "distbench/base/timers.h"
#include "glog/logging.h"

namespace distbench::protocol {

// Closing the descriptor removes it from the epoll set.
WakeTimer::Alarm::~Alarm() {
  const absl::MutexLock lock(&timer_.mutex_);
  timer_.alarms_.erase(this);
}

void WakeTimer::Alarm::CallBack(std::function<void()> on_due) {
  const absl::MutexLock lock(&timer_.mutex_);
  on_due_ = std::move(on_due);
}

void WakeTimer::Alarm::Set(int64_t due_ns) {
  base::ArmTimer(timer_fd_.get(), due_ns);
}

absl::StatusOr<std::unique_ptr<WakeTimer>> WakeTimer::Make() {
  std::unique_ptr<WakeTimer> timer(new WakeTimer);
  absl::Status opened = timer->Open();
  if (!opened.ok()) return opened;
  return timer;
}

absl::Status WakeTimer::Open() {
  epoll_ = base::FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  if (epoll_.is_open()) {
    stop_fd_ = base::FileDescriptor(eventfd(0, EFD_CLOEXEC));
  }
  if (!stop_fd_.is_open() || !Watch(stop_fd_, nullptr)) {
    return base::NoDescriptorError("the timer of a gRPC driver", errno);
  }
  absl::StatusOr<std::thread> thread =
      base::StartThread("the timer of a gRPC driver", [this] { Run(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  pthread_setname_np(thread_.native_handle(), "wake_timer");
  return absl::OkStatus();
}

// Edge-triggered, so that an alarm that has gone off need not be read.
bool WakeTimer::Watch(const base::FileDescriptor& fd, void* tag) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr = tag;
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event) == 0;
}

absl::StatusOr<std::unique_ptr<WakeTimer::Alarm>> WakeTimer::NewAlarm() {
  base::FileDescriptor fd(
      timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!fd.is_open()) {
    return base::NoDescriptorError("the alarm of a worker", errno);
  }
  std::unique_ptr<Alarm> alarm(new Alarm(*this, std::move(fd)));
  const absl::MutexLock lock(&mutex_);
  if (!Watch(alarm->timer_fd_, alarm.get())) {
    return base::NoDescriptorError("the alarm of a worker", errno);
  }
  alarms_.insert(alarm.get());
  return alarm;
}

WakeTimer::~WakeTimer() {
  if (!thread_.joinable()) return;  // it could not be opened
  PCHECK(eventfd_write(stop_fd_.get(), 1) == 0);
  thread_.join();
}

void WakeTimer::Run() {
  constexpr int kMaxEvents = 16;
  epoll_event events[kMaxEvents];
  while (true) {
    const int count = epoll_wait(epoll_.get(), events, kMaxEvents, -1);
    PCHECK(count >= 0 || errno == EINTR);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr == nullptr) return;
      CallBack(static_cast<Alarm*>(events[i].data.ptr));
    }
  }
}

void WakeTimer::CallBack(Alarm* alarm) {
  const absl::MutexLock lock(&mutex_);
  // The alarm may have been destroyed after its event was read.
  if (alarms_.contains(alarm)) alarm->on_due_();
}

}  // namespace distbench::protocol
