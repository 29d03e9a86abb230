// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/front_door.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "distbench/base/listen_address.h"
#include "glog/logging.h"

namespace distbench::sequencer {
namespace {

// The first bytes of an HTTP/2 client, and of a TLS handshake: its type and the
// major version.
constexpr absl::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr absl::string_view kTlsHandshake = "\x16\x03";

// The pause when the process has run out of file descriptors.
constexpr int kExhaustedPauseUs = 10'000;
constexpr int kExhaustedWarningSeconds = 10;

enum class Beginning { kRight, kWrong, kIncomplete };

Beginning Judge(absl::string_view bytes, absl::string_view expected) {
  if (!absl::StartsWith(expected, bytes.substr(0, expected.size()))) {
    return Beginning::kWrong;
  }
  return bytes.size() < expected.size() ? Beginning::kIncomplete
                                        : Beginning::kRight;
}

// TCP_RTO_MAX_MS of Linux 6.15; headers may lack it.
constexpr int kTcpRtoMaxMs = 44;

// After a cut of a link, other hosts must hear of this one soon, but TCP
// doubles the time between its retransmissions. Connections inherit these
// options from the listening socket. Kernels that know neither behave as usual.
void AskForEarlyRetransmission(int fd, absl::Duration max_interval) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on, sizeof(on));
  const int max_ms = static_cast<int>(absl::ToInt64Milliseconds(
      std::clamp(max_interval, absl::Seconds(1), absl::Minutes(2))));
  setsockopt(fd, IPPROTO_TCP, kTcpRtoMaxMs, &max_ms, sizeof(max_ms));
}

// Connections inherit these options, too.
void NoticeLostHosts(int fd, absl::Duration gone_after) {
  constexpr int kProbes = 5;
  const int seconds = static_cast<int>(absl::ToInt64Seconds(gone_after));
  const int idle_seconds = seconds / 2;
  const int probe_seconds = idle_seconds / kProbes;
  const int timeout_ms = 1000 * seconds;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds,
             sizeof(idle_seconds));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe_seconds,
             sizeof(probe_seconds));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof(kProbes));
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms,
             sizeof(timeout_ms));
}

}  // namespace

absl::StatusOr<std::unique_ptr<FrontDoor>> FrontDoor::Open(Options options) {
  auto door = absl::WrapUnique(new FrontDoor(std::move(options)));
  for (const std::string& address : door->options_.addresses) {
    absl::Status status = door->Listen(address);
    if (!status.ok()) return status;
  }
  door->thread_ = std::thread([&door = *door] { door.Run(); });
  return door;
}

FrontDoor::FrontDoor(Options options)
    : options_(std::move(options)), epoll_fd_(epoll_create1(EPOLL_CLOEXEC)) {
  PCHECK(epoll_fd_ >= 0);
  epoll_event event = {.events = EPOLLIN, .data = {.ptr = nullptr}};
  PCHECK(epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, end_.fd(), &event) == 0);
}

FrontDoor::~FrontDoor() {
  end_.Wake();
  if (thread_.joinable()) thread_.join();
  for (const Connection& listener : listeners_) close(listener.fd);
  for (const Connection& connection : waiting_) close(connection.fd);
  close(epoll_fd_);
}

absl::Status FrontDoor::Listen(const std::string& address) {
  auto listening = base::ListenAt(address, [this](int fd) {
    AskForEarlyRetransmission(fd, options_.max_retransmission_interval);
    NoticeLostHosts(fd, options_.gone_after);
    // gRPC sets this option only on sockets that it makes. Without it, a
    // message may wait up to 40 ms for the acknowledgement of the previous one:
    // 0.15 s of the 0.21 s of a test of ten RPCs.
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  });
  if (!listening.ok()) return listening.status();
  listeners_.push_back(
      {.fd = listening->socket.Release(), .is_listener = true, .deadline = {}});
  Watch(listeners_.back());
  return absl::OkStatus();
}

void FrontDoor::Watch(Connection& connection) {
  // Edge-triggered: unread preface bytes must not wake us again.
  const uint32_t events = connection.is_listener ? EPOLLIN : EPOLLIN | EPOLLET;
  epoll_event event = {.events = events, .data = {.ptr = &connection}};
  PCHECK(epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, connection.fd, &event) == 0);
}

void FrontDoor::Run() {
  for (;;) {
    int timeout_ms = -1;
    if (!waiting_.empty()) {
      const absl::Duration left = waiting_.front().deadline - absl::Now();
      timeout_ms = static_cast<int>(absl::ToInt64Milliseconds(
          std::clamp(left, absl::ZeroDuration(), options_.patience)));
      ++timeout_ms;  // round up
    }
    // One event at a time: handling it may close another connection.
    epoll_event event;
    const int count = epoll_wait(epoll_fd_, &event, 1, timeout_ms);
    if (count > 0) {
      if (event.data.ptr == nullptr) return;
      const auto& connection = *static_cast<Connection*>(event.data.ptr);
      connection.is_listener ? Accept(connection) : Look(connection);
    }
    CloseOverdue();
  }
}

void FrontDoor::Accept(const Connection& listener) {
  const int fd =
      accept4(listener.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    const int error = errno;
    const bool is_exhausted = error == EMFILE || error == ENFILE ||
                              error == ENOBUFS || error == ENOMEM;
    if (!is_exhausted) return;
    LOG_EVERY_T(WARNING, kExhaustedWarningSeconds)
        << "connections have to wait: " << strerror(error)
        << "; raise ulimit -Hn (LimitNOFILE of a service of systemd), or "
           "fs.file-max if all processes together have too many files";
    if (waiting_.empty()) {
      usleep(kExhaustedPauseUs);
    } else {
      Close(waiting_.front());
    }
    return;
  }
  if (waiting_.size() >= options_.max_waiting) Close(waiting_.front());
  waiting_.push_back({.fd = fd, .deadline = absl::Now() + options_.patience});
  waiting_.back().place = std::prev(waiting_.end());
  Watch(waiting_.back());
}

void FrontDoor::Look(const Connection& connection) {
  const absl::string_view expected =
      options_.expect_tls ? kTlsHandshake : kHttp2Preface;
  char bytes[32];
  const ssize_t count =
      recv(connection.fd, bytes, std::min(sizeof(bytes), expected.size()),
           MSG_PEEK | MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const Beginning beginning =
      count <= 0 ? Beginning::kWrong
                 : Judge(absl::string_view(bytes, count), expected);
  if (beginning == Beginning::kIncomplete) return;
  if (beginning == Beginning::kWrong) return Close(connection);
  const int fd = connection.fd;
  epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
  waiting_.erase(connection.place);
  options_.on_guest(fd);
}

void FrontDoor::CloseOverdue() {
  const absl::Time now = absl::Now();
  while (!waiting_.empty() && waiting_.front().deadline <= now) {
    Close(waiting_.front());
  }
}

void FrontDoor::Close(const Connection& connection) {
  close(connection.fd);
  waiting_.erase(connection.place);
}

}  // namespace distbench::sequencer
