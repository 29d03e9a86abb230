// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A server whose behaviour is known exactly, for bench/fooled: one thread that
// answers requests of load generators one after the other, the connections in
// turn. It understands as much of HTTP/1.1 (GET), HTTP/2 (prior knowledge, RFC
// 9113) and gRPC (unary) as they send, and does not look at what is asked. It
// prints its address when it is ready, and ends with the process that started
// it; at SIGTERM it prints how many requests it answered.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "CLI/CLI.hpp"
#include "bench/gallery/known_protocols.h"

namespace bench {
namespace {

constexpr int kMaxEvents = 64;
constexpr size_t kReadBytes = 64 * 1024;
constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kNsPerSecond = 1'000'000'000;

struct Options {
  std::string protocol = "http1";
  int work_us = 0;
  int fail_every = 0;
  int slow_start_ms = 0;
};

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

int64_t ReadClock(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

// Decides how each request is answered.
class Behaviour {
 public:
  explicit Behaviour(const Options& options) : options_(options) {}

  // Does the work of one request. Returns whether it succeeds.
  bool Handle() {
    if (handled_count_++ == 0) usleep(options_.slow_start_ms * 1000);
    const int64_t end_ns =
        ReadClock(CLOCK_THREAD_CPUTIME_ID) + options_.work_us * kNsPerUs;
    while (ReadClock(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
    }
    const bool fails =
        options_.fail_every > 0 && handled_count_ % options_.fail_every == 0;
    failed_count_ += fails;
    return !fails;
  }

  void Print() const {
    std::printf("{\"requests\": %ld, \"failed\": %ld}\n", handled_count_,
                failed_count_);
  }

 private:
  const Options options_;
  int64_t handled_count_ = 0;
  int64_t failed_count_ = 0;
};

// Writes all of it; blocks if the client does not read.
void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written <= 0) return;  // The next read ends the connection.
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

struct Connection {
  std::unique_ptr<Protocol> protocol;
  bool is_waiting = false;
};

class Server {
 public:
  explicit Server(const Options& options)
      : options_(options), behaviour_(options) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, generic, size) != 0 ||
        listen(listener_, SOMAXCONN) != 0 ||
        getsockname(listener_, generic, &size) != 0) {
      Fail("cannot listen on 127.0.0.1");
    }
    Watch(listener_);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    signals_ = signalfd(-1, &signals, 0);
    Watch(signals_);
    std::printf("Listening at 127.0.0.1:%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
  }

  // Returns at SIGTERM.
  void Run() {
    epoll_event events[kMaxEvents];
    while (true) {
      const int timeout_ms = waiting_.empty() ? -1 : 0;
      const int count = epoll_wait(epoll_, events, kMaxEvents, timeout_ms);
      for (int i = 0; i < count; ++i) {
        const int fd = events[i].data.fd;
        if (fd == signals_) {
          behaviour_.Print();
          return;
        }
        if (fd == listener_) {
          Accept();
        } else {
          Read(fd);
        }
      }
      if (!waiting_.empty()) AnswerOne();
    }
  }

 private:
  void Watch(int fd) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) Fail("epoll_ctl");
  }

  void Accept() {
    const int fd = accept(listener_, nullptr, nullptr);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    connections_[fd].protocol = MakeProtocol(options_.protocol);
    Watch(fd);
  }

  void Read(int fd) {
    Connection& connection = connections_[fd];
    const ssize_t received = recv(fd, buffer_, kReadBytes, MSG_DONTWAIT);
    if (received < 0 && errno == EAGAIN) return;
    std::string replies;
    if (received <= 0 ||
        !connection.protocol->Read({buffer_, static_cast<size_t>(received)},
                                   replies)) {
      std::erase(waiting_, fd);
      connections_.erase(fd);
      close(fd);
      return;
    }
    WriteAll(fd, replies);
    Queue(fd, connection);
  }

  // Answers a request of the connection that has waited longest.
  void AnswerOne() {
    const int fd = waiting_.front();
    waiting_.pop_front();
    Connection& connection = connections_[fd];
    connection.is_waiting = false;
    std::string replies;
    connection.protocol->Answer(behaviour_.Handle(), replies);
    WriteAll(fd, replies);
    Queue(fd, connection);
  }

  void Queue(int fd, Connection& connection) {
    if (connection.is_waiting || !connection.protocol->HasRequest()) return;
    connection.is_waiting = true;
    waiting_.push_back(fd);
  }

  const Options options_;
  Behaviour behaviour_;
  const int epoll_ = epoll_create1(0);
  int listener_ = -1;
  int signals_ = -1;
  std::unordered_map<int, Connection> connections_;
  std::deque<int> waiting_;  // connections with requests
  char buffer_[kReadBytes];
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app("A server whose behaviour is known exactly.");
  app.add_option("--protocol", options.protocol, "http1, http2 or grpc")
      ->check(CLI::IsMember({"http1", "http2", "grpc"}));
  app.add_option("--work_us", options.work_us,
                 "CPU time of each request, in microseconds")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--fail_every", options.fail_every,
                 "fails each request whose number is a multiple; 0: none")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--slow_start_ms", options.slow_start_ms,
                 "sleeps this long at the first request, in milliseconds")
      ->check(CLI::Range(0, 60'000));
  CLI11_PARSE(app, argc, argv);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  bench::Server(options).Run();
}
