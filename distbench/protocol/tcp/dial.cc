#include "distbench/protocol/tcp/dial.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "glog/logging.h"

namespace distbench {
namespace {

// Connections that are being made at the same time, so that a listener's queue
// of new connections does not overflow.
constexpr size_t kMaxParallelDials = 64;

// Of the targets that can not be reached, how many an error names.
constexpr size_t kMaxNamedTargets = 3;

// Why a connection could not be made; with the remedy where it is not obvious.
std::string Explain(int error) {
  switch (error) {
    case EADDRNOTAVAIL:
      return absl::StrCat(std::strerror(error),
                          ": no local port is left for it; widen "
                          "net.ipv4.ip_local_port_range, or use fewer "
                          "connections");
    case EMFILE:
    case ENFILE:
      return absl::StrCat(std::strerror(error),
                          ": raise ulimit -n, or use fewer connections");
    default:
      return std::strerror(error);
  }
}

// Makes the connection of one target, address by address.
class TargetDialer {
 public:
  TargetDialer(DialTarget& target, int epoll_fd)
      : target_(target), epoll_fd_(epoll_fd) {
    TryNextAddress();
  }

  // The target's connection is ready for what was waited for.
  void OnReady() {
    const uint32_t events_before = dial_.events();
    dial_.Continue();
    if (dial_.in_progress()) {
      if (dial_.events() != events_before) Watch(EPOLL_CTL_MOD);
    } else {
      FinishAttempt();
    }
  }

  bool done() const { return !dial_.in_progress(); }

  // Empty if connected.
  std::string Failure() const {
    if (target_.socket.is_open()) return "";
    return absl::StrCat(target_.name, " (",
                        done() ? dial_.error() : "no answer in time", ")");
  }

 private:
  void TryNextAddress() {
    target_.address = target_.addresses[next_address_++];
    dial_.Begin(target_.address);
    if (dial_.in_progress()) {
      Watch(EPOLL_CTL_ADD);
    } else {
      FinishAttempt();
    }
  }

  void FinishAttempt() {
    if (dial_.state() == Dial::State::kConnected) {
      target_.socket = dial_.TakeSocket();
      epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, target_.socket.get(), nullptr);
    } else if (next_address_ < target_.addresses.size()) {
      TryNextAddress();
    }
  }

  void Watch(int operation) {
    epoll_event event = {};
    event.events = dial_.events();
    event.data.ptr = this;
    PCHECK(epoll_ctl(epoll_fd_, operation, dial_.fd(), &event) == 0);
  }

  DialTarget& target_;
  const int epoll_fd_;
  Dial dial_;
  size_t next_address_ = 0;
};

// How long it takes at most to notice that dialing was aborted.
constexpr absl::Duration kAbortLatency = absl::Milliseconds(100);

// Runs dialers until they are done, time is up or they are aborted.
void RunDialers(int epoll_fd,
                absl::Span<const std::unique_ptr<TargetDialer>> dialers,
                absl::Time deadline, const std::atomic<bool>& aborted) {
  const auto all_done = [&] {
    return absl::c_all_of(dialers, [](const auto& d) { return d->done(); });
  };
  while (!all_done() && !aborted) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return;
    const int64_t timeout_ms = absl::ToInt64Milliseconds(
        std::min(absl::Ceil(left, absl::Milliseconds(1)), kAbortLatency));
    epoll_event events[kMaxParallelDials];
    const int count = epoll_wait(epoll_fd, events, kMaxParallelDials,
                                 static_cast<int>(timeout_ms));
    for (int i = 0; i < count; ++i) {
      static_cast<TargetDialer*>(events[i].data.ptr)->OnReady();
    }
  }
}

absl::Status ToStatus(std::vector<std::string> failures) {
  if (failures.empty()) return absl::OkStatus();
  const size_t unnamed =
      failures.size() - std::min(failures.size(), kMaxNamedTargets);
  failures.resize(failures.size() - unnamed);
  return absl::UnavailableError(absl::StrCat(
      "can not connect to peer ", absl::StrJoin(failures, ", "),
      unnamed > 0 ? absl::StrCat(" and ", unnamed, " more") : "",
      "; check that the peer runs and that no firewall is in between"));
}

}  // namespace

uint32_t Dial::events() const {
  return state_ == State::kConnecting ? EPOLLOUT : EPOLLIN;
}

Dial::State Dial::Begin(const SocketAddress& address) {
  hello_bytes_ = 0;
  error_.clear();
  socket_ = BeginConnect(address);
  if (!socket_.is_open()) return FailWith(Explain(errno));
  return state_ = State::kConnecting;
}

Dial::State Dial::Continue() {
  switch (state_) {
    case State::kConnecting:
      return FinishConnecting();
    case State::kAwaitingHello:
      return ReadHello();
    case State::kConnected:
    case State::kFailed:
      break;
  }
  return state_;
}

Dial::State Dial::FinishConnecting() {
  const int error = TakeSocketError(socket_.get());
  if (error != 0) return FailWith(Explain(error));
  char hello[kHelloBytes];
  EncodeHello(hello);
  // A new connection has room for it.
  if (send(socket_.get(), hello, kHelloBytes, MSG_NOSIGNAL) != kHelloBytes) {
    return FailWith(std::strerror(errno));
  }
  return state_ = State::kAwaitingHello;
}

Dial::State Dial::ReadHello() {
  // Not a byte more: frames may follow.
  const ssize_t received = Receive(socket_.get(), hello_ + hello_bytes_,
                                   kHelloBytes - hello_bytes_);
  if (received < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return state_;
    return FailWith(std::strerror(errno));
  }
  if (received == 0) return FailWith(Describe(StreamError::kClosedByPeer));
  hello_bytes_ += received;
  const StreamError error =
      CheckHello(absl::string_view(hello_, hello_bytes_));
  if (error != StreamError::kNone) return FailWith(Describe(error));
  if (hello_bytes_ < kHelloBytes) return state_;
  return state_ = State::kConnected;
}

void Dial::Fail(std::string reason) { FailWith(reason); }

Dial::State Dial::FailWith(absl::string_view what) {
  socket_.Close();
  error_ = std::string(what);
  return state_ = State::kFailed;
}

absl::Status DialAll(absl::Span<DialTarget> targets, absl::Time deadline,
                     const std::atomic<bool>& aborted) {
  const FileDescriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  PCHECK(epoll.is_open());
  std::vector<std::string> failures;
  while (!targets.empty()) {
    std::vector<std::unique_ptr<TargetDialer>> dialers;
    for (DialTarget& target :
         targets.subspan(0, std::min(targets.size(), kMaxParallelDials))) {
      dialers.push_back(std::make_unique<TargetDialer>(target, epoll.get()));
    }
    targets.remove_prefix(dialers.size());
    RunDialers(epoll.get(), dialers, deadline, aborted);
    if (aborted) return absl::CancelledError("connecting was aborted");
    for (const auto& dialer : dialers) {
      std::string failure = dialer->Failure();
      if (failure.empty() || absl::c_linear_search(failures, failure)) continue;
      failures.push_back(std::move(failure));
    }
  }
  return ToStatus(std::move(failures));
}

}  // namespace distbench
