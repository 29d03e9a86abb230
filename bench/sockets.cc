// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "bench/throughput.h"

namespace bench {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

void SendAtOnce(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

void Fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

int ConnectTo(const std::string& port) {
  const sockaddr_in address = Loopback(std::atoi(port.c_str()));
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) != 0) {
    Fail("connect");
  }
  SendAtOnce(fd);
  return fd;
}

void AcceptForever(const std::function<void(int fd)>& serve) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Loopback(0);
  socklen_t length = sizeof(address);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(listener, SOMAXCONN) != 0) {
    Fail("listen");
  }
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  AnnounceServer(std::to_string(ntohs(address.sin_port)));
  while (true) {
    const int fd = accept(listener, nullptr, nullptr);
    if (fd < 0) Fail("accept");
    SendAtOnce(fd);
    serve(fd);
  }
}

Waiter::Waiter(int spin_us)
    : spin_ns_(int64_t{1000} * spin_us), epoll_fd_(epoll_create1(0)) {}

void Waiter::Watch(int operation, int fd, uint32_t events, void* connection) {
  epoll_event event = {};
  event.events = events;
  event.data.ptr = connection;
  if (epoll_ctl(epoll_fd_, operation, fd, &event) != 0) Fail("epoll_ctl");
}

int Waiter::Wait(int64_t until_ns, epoll_event* events) {
  if (spin_ns_ > 0) {
    const int64_t spin_until_ns = std::min(until_ns, NowNs() + spin_ns_);
    do {
      const int count = epoll_wait(epoll_fd_, events, kMaxEvents, 0);
      if (count > 0) return count;
    } while (NowNs() < spin_until_ns);
  }
  const int count = until_ns == kForever
                        ? epoll_wait(epoll_fd_, events, kMaxEvents, -1)
                        : WaitUntil(until_ns, events);
  if (count < 0 && errno != EINTR) Fail("epoll_wait");
  return std::max(count, 0);
}

int Waiter::WaitUntil(int64_t until_ns, epoll_event* events) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const int64_t wait_ns = std::max<int64_t>(0, until_ns - NowNs());
  const timespec timeout = {.tv_sec = wait_ns / kNsPerSecond,
                            .tv_nsec = wait_ns % kNsPerSecond};
  return epoll_pwait2(epoll_fd_, events, kMaxEvents, &timeout, nullptr);
}

}  // namespace bench
