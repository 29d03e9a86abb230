// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Connections over loopback for the bare programs that need no framework, with
// epoll.

#ifndef BENCH_SOCKETS_H_
#define BENCH_SOCKETS_H_

#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace bench {

inline constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

// Prints what has failed and errno's text, and exits.
[[noreturn]] void Fail(const char* what);

// Connects to a server's port, which it has announced.
int ConnectTo(const std::string& port);

// Listens, announces the port, and calls `serve` for each connection.
[[noreturn]] void AcceptForever(const std::function<void(int fd)>& serve);

// Waits for a thread's connections. With spin_us, polls before it blocks.
class Waiter {
 public:
  explicit Waiter(int spin_us);

  // Waits for these events of a connection from now on. EPOLL_CTL_ADD for a new
  // one, else EPOLL_CTL_MOD.
  void Watch(int operation, int fd, uint32_t events, void* connection);

  // Calls on_ready(connection, events) for each connection that is ready; waits
  // for one until about until_ns.
  template <typename OnReady>
  void RunOnce(int64_t until_ns, const OnReady& on_ready) {
    epoll_event events[kMaxEvents];
    const int count = Wait(until_ns, events);
    for (int i = 0; i < count; ++i) {
      on_ready(events[i].data.ptr, events[i].events);
    }
  }

 private:
  static constexpr int kMaxEvents = 64;

  int Wait(int64_t until_ns, epoll_event* events);
  int WaitUntil(int64_t until_ns, epoll_event* events);

  const int64_t spin_ns_;
  const int epoll_fd_;
};

}  // namespace bench

#endif  // BENCH_SOCKETS_H_
