// A worker waits at a Poller for sockets, other threads, and points in time.

#ifndef DISTBENCH_PROTOCOL_TCP_POLLER_H_
#define DISTBENCH_PROTOCOL_TCP_POLLER_H_

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>

#include "distbench/base/file_descriptor.h"
#include "distbench/base/wake_ahead.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/brief_waits.h"

namespace distbench {

// Used by its worker's thread, except for Wake().
class Poller {
 public:
  // The owner of a file descriptor.
  class Watcher {
   public:
    // `epoll_events` is as in epoll_event. May still be called for a descriptor
    // that the watcher has just closed. Must not destroy a watcher.
    virtual void OnReady(uint32_t epoll_events, TransportEvents& events) = 0;

   protected:
    ~Watcher() = default;
  };

  // Polls for `spin_ns` before each wait, or longer while waits are brief.
  explicit Poller(int64_t spin_ns);

  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Tells the watcher whenever the descriptor is ready for one of the events.
  // The watcher must outlive the Poll() that follows. Closing the descriptor
  // ends this.
  void Watch(int fd, uint32_t epoll_events, Watcher& watcher);

  // Watches for other events from now on.
  void Rewatch(int fd, uint32_t epoll_events, Watcher& watcher);

  // Tells a bounded number of watchers what is ready. If nothing is, waits
  // until something is, until the monotonic clock reaches deadline_ns, or until
  // Wake() is called. May return early.
  void Poll(int64_t deadline_ns, TransportEvents& events);

  // Makes the current or the next Poll() return early. Any thread may call it.
  void Wake();

 private:
  static constexpr int kMaxEvents = 64;
  static constexpr int64_t kNoTimer = -1;

  int Wait(int64_t deadline_ns);
  bool TakeWake();
  int Spin(int64_t until_ns);
  int Block(int64_t deadline_ns);
  int Look(int timeout_ms);
  void SetTimer(int64_t due_ns);
  void NoteLateness(int count);

  const int64_t spin_ns_;
  const FileDescriptor epoll_;
  const FileDescriptor wake_fd_;
  const FileDescriptor timer_fd_;
  epoll_event ready_[kMaxEvents];
  int64_t timer_ns_ = kNoTimer;  // what the timer is set to
  WakeAhead ahead_;
  BriefWaits brief_waits_;

  std::atomic<bool> wake_requested_ = false;
  // Whether Wake() must make a system call.
  std::atomic<bool> blocked_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_POLLER_H_
