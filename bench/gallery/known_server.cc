// A server whose behaviour is known exactly, for bench/fooled: one thread that
// answers requests of load generators one after the other. It understands as
// much of HTTP/1.1 (GET), HTTP/2 (prior knowledge, RFC 9113) and gRPC (unary)
// as they send, and does not look at what is asked. It prints its address when
// it is ready, and ends with the process that started it; at SIGTERM it prints
// how many requests it answered and how long it took.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

// Decides how each request is answered, and keeps how long it took.
class Behaviour {
 public:
  explicit Behaviour(const Options& options) : options_(options) {}

  // Does the work of one request. Returns whether it succeeds.
  bool Handle() {
    if (handled_count_++ == 0) usleep(options_.slow_start_ms * 1000);
    const int64_t end_ns = ReadClock(CLOCK_THREAD_CPUTIME_ID) +
                           options_.work_us * kNsPerUs;
    while (ReadClock(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
    }
    const bool fails =
        options_.fail_every > 0 && handled_count_ % options_.fail_every == 0;
    failed_count_ += fails;
    return !fails;
  }

  void Record(int64_t service_time_ns) { times_ns_.push_back(service_time_ns); }

  void Print() {
    std::sort(times_ns_.begin(), times_ns_.end());
    const size_t p99 = times_ns_.size() * 99 / 100;
    std::printf(
        R"({"requests": %ld, "failed": %ld, "p99_us": %.1f})"
        "\n",
        handled_count_, failed_count_,
        times_ns_.empty() ? 0.0 : static_cast<double>(times_ns_[p99]) / 1e3);
  }

 private:
  const Options options_;
  int64_t handled_count_ = 0;
  int64_t failed_count_ = 0;

  // From reading a request to writing its reply.
  std::vector<int64_t> times_ns_;
};

// Writes all of it; blocks if the client does not read.
void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written <= 0) return;  // The next read ends the connection.
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

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
      const int count = epoll_wait(epoll_, events, kMaxEvents, -1);
      for (int i = 0; i < count; ++i) {
        const int fd = events[i].data.fd;
        if (fd == signals_) {
          behaviour_.Print();
          return;
        }
        if (fd == listener_) {
          Accept();
        } else {
          Serve(fd);
        }
      }
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
    protocols_[fd] = MakeProtocol(options_.protocol);
    Watch(fd);
  }

  void Serve(int fd) {
    Protocol& protocol = *protocols_[fd];
    const ssize_t received = recv(fd, buffer_, kReadBytes, MSG_DONTWAIT);
    if (received < 0 && errno == EAGAIN) return;
    const int64_t read_ns = ReadClock(CLOCK_MONOTONIC);
    std::string replies;
    const bool is_open =
        received > 0 &&
        protocol.Read({buffer_, static_cast<size_t>(received)}, replies);
    WriteAll(fd, replies);
    while (protocol.HasRequest()) {
      replies.clear();
      protocol.Answer(behaviour_.Handle(), replies);
      WriteAll(fd, replies);
      behaviour_.Record(ReadClock(CLOCK_MONOTONIC) - read_ns);
    }
    if (is_open) return;
    close(fd);
    protocols_.erase(fd);
  }

  const Options options_;
  Behaviour behaviour_;
  const int epoll_ = epoll_create1(0);
  int listener_ = -1;
  int signals_ = -1;
  std::unordered_map<int, std::unique_ptr<Protocol>> protocols_;
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
