#include "distbench/protocol/grpc/queue/wake_timer.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <cerrno>
#include <utility>

#include "distbench/base/timers.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

// Edge-triggered, so that an alarm that has gone off need not be read.
void AddToEpoll(int epoll_fd, int fd, void* tag) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr = tag;
  PCHECK(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0);
}

}  // namespace

WakeTimer::Alarm::Alarm(WakeTimer& timer, std::function<void()> on_due)
    : timer_(timer),
      on_due_(std::move(on_due)),
      timer_fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  PCHECK(timer_fd_.is_open());
  const absl::MutexLock lock(&timer_.mutex_);
  timer_.alarms_.insert(this);
  AddToEpoll(timer_.epoll_.get(), timer_fd_.get(), this);
}

// Closing the descriptor removes it from the epoll set.
WakeTimer::Alarm::~Alarm() {
  const absl::MutexLock lock(&timer_.mutex_);
  timer_.alarms_.erase(this);
}

void WakeTimer::Alarm::Set(int64_t due_ns) {
  base::ArmTimer(timer_fd_.get(), due_ns);
}

WakeTimer::WakeTimer()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), stop_fd_(eventfd(0, EFD_CLOEXEC)) {
  PCHECK(epoll_.is_open());
  PCHECK(stop_fd_.is_open());
  AddToEpoll(epoll_.get(), stop_fd_.get(), nullptr);
  thread_ = std::thread(&WakeTimer::Run, this);
  pthread_setname_np(thread_.native_handle(), "wake_timer");
}

WakeTimer::~WakeTimer() {
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
