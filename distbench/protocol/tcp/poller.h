// What a worker waits at: sockets, other threads, and points in time.

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

// Used by its worker's thread, but for Wake().
class Poller {
 public:
  // What a file descriptor belongs to.
  class Watcher {
   public:
    // events: as in epoll_event. May come for a descriptor that the watcher had
    // until a moment ago. Must not destroy a watcher.
    virtual void OnReady(uint32_t epoll_events, TransportEvents& events) = 0;

   protected:
    ~Watcher() = default;
  };

  // Polls for `spin_ns` before each wait, or longer while waits are brief.
  explicit Poller(int64_t spin_ns);

  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Tells the watcher, which must outlive the next Poll(), whenever the
  // descriptor is ready for one of the events. Ends when it is closed.
  void Watch(int fd, uint32_t epoll_events, Watcher& watcher);

  // Other events from now on.
  void Rewatch(int fd, uint32_t epoll_events, Watcher& watcher);

  // Tells the watchers of what is ready, a bounded number of them. If nothing
  // is, waits until something is, the monotonic clock reaches deadline_ns or
  // Wake() is called. May return early.
  void Poll(int64_t deadline_ns, TransportEvents& events);

  // Makes the current or the next Poll() return early. Any thread.
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
