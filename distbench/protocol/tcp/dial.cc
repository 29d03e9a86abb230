// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/dial.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/base/files.h"
#include "distbench/protocol/driver_parts.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

// How many connections are made at the same time, so that a listener's queue of
// new connections does not overflow.
constexpr size_t kMaxParallelDials = 64;

// Explains why a connection could not be made, and suggests a remedy if it is
// not obvious.
std::string Explain(int error) {
  switch (error) {
    case EADDRNOTAVAIL:
      return absl::StrCat(std::strerror(error),
                          ": no local port is left for it, because closed "
                          "connections keep theirs for a minute (TIME_WAIT); "
                          "widen net.ipv4.ip_local_port_range, set "
                          "net.ipv4.tcp_tw_reuse to 1, or use fewer "
                          "connections (more calls_per_connection)");
    default:
      return base::ExplainDescriptorError(error);
  }
}

// Connects to a target, trying one address after the other.
class TargetDialer {
 public:
  TargetDialer(DialTarget& target, const ConnectionSecurity& security,
               int epoll_fd, absl::FunctionRef<void(DialTarget&)> on_connected)
      : target_(target),
        epoll_fd_(epoll_fd),
        on_connected_(on_connected),
        dial_(security) {
    TryNextAddress();
  }

  // Call this when the connection is ready for the awaited events.
  void OnReady() {
    const uint32_t events_before = dial_.events();
    dial_.Continue();
    if (dial_.in_progress()) {
      if (dial_.events() != events_before) PCHECK(Watch(EPOLL_CTL_MOD));
    } else {
      FinishAttempt();
    }
  }

  bool done() const { return !dial_.in_progress(); }
  bool is_busy() const { return dial_.state() == Dial::State::kBusy; }

  // Connects to the target's address, or tries again if it was busy.
  void Connect() {
    dial_.Connect(target_.address);
    if (is_busy()) return;
    if (dial_.in_progress() && !Watch(EPOLL_CTL_ADD)) {
      dial_.Fail(Explain(errno));
    }
    if (!dial_.in_progress()) FinishAttempt();
  }

  // Gives up if it is not done. Returns "" if connected.
  std::string Finish() {
    if (!done()) dial_.TimeOut();
    if (target_.stream.is_open()) return "";
    return absl::StrCat(target_.name, " (", dial_.error(), ")");
  }

 private:
  void TryNextAddress() {
    target_.address = target_.addresses[next_address_++];
    Connect();
  }

  void FinishAttempt() {
    if (dial_.state() == Dial::State::kConnected) {
      target_.stream = dial_.TakeStream();
      epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, target_.stream.fd(), nullptr);
      on_connected_(target_);
    } else if (next_address_ < target_.addresses.size()) {
      TryNextAddress();
    }
  }

  bool Watch(int operation) {
    epoll_event event = {};
    event.events = dial_.events();
    event.data.ptr = this;
    return epoll_ctl(epoll_fd_, operation, dial_.fd(), &event) == 0;
  }

  DialTarget& target_;
  const int epoll_fd_;
  const absl::FunctionRef<void(DialTarget&)> on_connected_;
  Dial dial_;
  size_t next_address_ = 0;
};

// The maximum delay between an abort of dialing and its effect.
constexpr absl::Duration kAbortLatency = absl::Milliseconds(100);

// Connects to all targets. While some take long, others go on.
class AllDialers {
 public:
  AllDialers(absl::Span<DialTarget> targets, const ConnectionSecurity& security,
             int epoll_fd, absl::FunctionRef<void(DialTarget&)> on_connected)
      : untried_(targets),
        security_(security),
        epoll_fd_(epoll_fd),
        on_connected_(on_connected) {}

  // Runs until all have finished, time is up or dialing is aborted.
  void Run(absl::Time deadline, const std::atomic<bool>& aborted) {
    TryMore();
    while (!running_.empty() && !aborted) {
      const absl::Duration left = deadline - absl::Now();
      if (left <= absl::ZeroDuration()) return;
      Wait(left);
      TryMore();
    }
  }

  // Gives up what has not finished. Returns the error of all failures.
  absl::Status Finish() {
    for (const auto& dialer : running_) Finish(*dialer);
    running_.clear();
    if (failures_.empty()) return absl::OkStatus();
    std::string untried;
    if (!untried_.empty()) {
      untried = absl::StrCat("; ", untried_.size(),
                             " more connections were not tried before time "
                             "was up");
    }
    return absl::UnavailableError(absl::StrCat(
        "cannot connect to peer ", failures_.ToString(), untried,
        "; check that the peer runs and that no firewall is in between"));
  }

 private:
  // Lets go of those that have finished, and begins others in their place.
  void TryMore() {
    std::erase_if(running_, [&](const auto& dialer) {
      if (dialer->done()) Finish(*dialer);
      return dialer->done();
    });
    while (running_.size() < kMaxParallelDials && !untried_.empty()) {
      auto dialer = std::make_unique<TargetDialer>(untried_.front(), security_,
                                                   epoll_fd_, on_connected_);
      untried_.remove_prefix(1);
      if (dialer->done()) {
        Finish(*dialer);
      } else {
        running_.push_back(std::move(dialer));
      }
    }
  }

  void Wait(absl::Duration left) {
    const bool any_busy = absl::c_any_of(
        running_, [](const auto& dialer) { return dialer->is_busy(); });
    const int64_t timeout_ms = absl::ToInt64Milliseconds(
        std::min(absl::Ceil(left, absl::Milliseconds(1)),
                 any_busy ? absl::Nanoseconds(Dial::kRetryNs) : kAbortLatency));
    epoll_event events[kMaxParallelDials];
    const int count = epoll_wait(epoll_fd_, events, kMaxParallelDials,
                                 static_cast<int>(timeout_ms));
    for (int i = 0; i < count; ++i) {
      static_cast<TargetDialer*>(events[i].data.ptr)->OnReady();
    }
    for (const auto& dialer : running_) {
      if (dialer->is_busy()) dialer->Connect();
    }
  }

  void Finish(TargetDialer& dialer) {
    std::string failure = dialer.Finish();
    if (!failure.empty()) failures_.Add(std::move(failure));
  }

  absl::Span<DialTarget> untried_;
  const ConnectionSecurity& security_;
  const int epoll_fd_;
  const absl::FunctionRef<void(DialTarget&)> on_connected_;
  std::vector<std::unique_ptr<TargetDialer>> running_;
  FailureList failures_;
};

}  // namespace

uint32_t Dial::events() const {
  const bool writes = state_ == State::kConnecting ||
                      (state_ == State::kSecuring && wants_write_);
  return writes ? EPOLLOUT : EPOLLIN;
}

Dial::State Dial::Connect(const SocketAddress& address) {
  error_.clear();
  state_ = State::kConnecting;
  const NetworkSettings& settings =
      security_.network->settings(DriverNetwork::Side::kClient);
  stream_ = Stream(OpenSocket(address.storage.ss_family, settings));
  if (work_ != nullptr) stream_.NoteIn(*work_);
  if (!stream_.is_open()) {
    Fail(Explain(errno));
  } else if (const absl::Status applied =
                 ApplyNetworkSettings(settings, stream_.fd());
             !applied.ok()) {
    Fail(applied.message());
  } else if (BeginConnect(stream_.fd(), address)) {
    return state_;
  } else if (errno == EAGAIN) {
    stream_.Close();
    state_ = State::kBusy;
  } else {
    Fail(Explain(errno));
  }
  return state_;
}

// Each step may be followed at once by the next one.
Dial::State Dial::Continue() {
  if (state_ == State::kConnecting) FinishConnecting();
  if (state_ == State::kSecuring) Secure();
  if (state_ == State::kGreeting) Greet();
  if (state_ == State::kConnected) Admit();
  return state_;
}

void Dial::FinishConnecting() {
  const int error = TakeSocketError(stream_.fd());
  if (error != 0) {
    Fail(Explain(error));
    return;
  }
  if (security_.wire_time.share > 0) {
    const absl::Status stamped = stream_.TakeStamps(security_.wire_time.clock);
    if (!stamped.ok()) return Fail(stamped.message());
  }
  stream_.Secure(security_, security::TlsContext::Side::kClient);
  state_ = State::kSecuring;
}

void Dial::Secure() {
  const security::TlsSession::State tls = stream_.Handshake();
  if (tls == security::TlsSession::State::kFailed) {
    Fail(stream_.Error());
    return;
  }
  wants_write_ = tls == security::TlsSession::State::kWantsWrite;
  if (tls != security::TlsSession::State::kReady) return;
  if (security_.greet == nullptr) {
    state_ = State::kConnected;
    return;
  }
  greeting_ = security_.greet(security_.test_nonce);
  if (SendOutput()) state_ = State::kGreeting;
}

// A new connection has enough room for a greeting.
bool Dial::SendOutput() {
  std::string output = greeting_->TakeOutput();
  if (output.empty()) return true;  // TLS takes no empty records
  const iovec piece = {.iov_base = output.data(), .iov_len = output.size()};
  if (stream_.Send(&piece, 1) == static_cast<ssize_t>(output.size())) {
    return true;
  }
  Fail(stream_.Error());
  return false;
}

void Dial::Greet() {
  // A TLS session may hold bytes back, of which the poller knows nothing.
  while (greeting_->missing_bytes() > 0) {
    if (!ReceiveGreeting()) return;
  }
  if (!SendOutput()) return;
  greeting_.reset();
  state_ = State::kConnected;
}

// Returns false if nothing was received, or the attempt has failed.
bool Dial::ReceiveGreeting() {
  char buffer[256];
  // Not a byte more, because frames may follow.
  const ssize_t received = stream_.Receive(
      buffer, std::min(sizeof(buffer), greeting_->missing_bytes()));
  if (received < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK) Fail(stream_.Error());
    return false;
  }
  const StreamError error =
      received == 0 ? StreamError::kClosedByPeer
                    : greeting_->Receive(absl::string_view(buffer, received));
  if (error != StreamError::kNone) Fail(Describe(error));
  return error == StreamError::kNone;
}

void Dial::TimeOut() {
  Fail(state_ == State::kBusy ? "its queue of new connections stays full"
                              : "no answer in time");
}

// Refuses a connection that lacks what the settings require.
void Dial::Admit() {
  const absl::Status admitted =
      security_.network->Admit(DriverNetwork::Side::kClient, stream_.fd());
  if (!admitted.ok()) Fail(admitted.message());
}

void Dial::Fail(absl::string_view reason) {
  error_ = std::string(reason);
  stream_.Close();
  state_ = State::kFailed;
}

absl::Status DialAll(absl::Span<DialTarget> targets,
                     const ConnectionSecurity& security, absl::Time deadline,
                     const std::atomic<bool>& aborted,
                     absl::FunctionRef<void(DialTarget&)> on_connected) {
  const base::FileDescriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  // All file descriptors may be in use.
  if (!epoll.is_open()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot wait for connections: ", Explain(errno)));
  }
  AllDialers dialers(targets, security, epoll.get(), on_connected);
  dialers.Run(deadline, aborted);
  if (aborted) return absl::CancelledError("connecting was aborted");
  return dialers.Finish();
}

Redialer::Redialer(StreamContext& context, const DialTarget& target,
                   int64_t timeout_ns, Poller::Watcher& watcher, Owner& owner)
    : context_(context),
      name_(target.name),
      address_(target.address),
      timeout_ns_(timeout_ns),
      watcher_(watcher),
      owner_(owner),
      dial_(context.security, &context.poller.work()),
      was_connected_(target.stream.is_open()) {}

void Redialer::OnDown(int64_t now_ns) { due_ns_ = delay_.After(now_ns); }

void Redialer::Work(int64_t now_ns) {
  if (now_ns < next_due_ns()) return;
  if (is_requested_) {
    is_requested_ = false;
    end_ns_ = now_ns + timeout_ns_;
    if (was_connected_) ++context_.counters.reconnects;
  } else if (!is_busy() || now_ns >= end_ns_) {
    dial_.TimeOut();
    return Finish();
  }
  Connect(now_ns);
}

void Redialer::Connect(int64_t now_ns) {
  dial_.Connect(address_);
  due_ns_ = is_busy() ? std::min(end_ns_, now_ns + Dial::kRetryNs) : end_ns_;
  if (dial_.in_progress() && !is_busy()) {
    const absl::Status watched =
        context_.poller.Watch(dial_.fd(), dial_.events(), watcher_);
    if (!watched.ok()) dial_.Fail(watched.message());
  }
  if (!dial_.in_progress()) Finish();
}

void Redialer::Continue() {
  const uint32_t events_before = dial_.events();
  dial_.Continue();
  if (!dial_.in_progress()) return Finish();
  if (dial_.events() != events_before) {
    context_.poller.Rewatch(dial_.fd(), dial_.events(), watcher_);
  }
}

void Redialer::Finish() {
  if (dial_.state() == Dial::State::kConnected) {
    was_connected_ = true;
    return owner_.OnConnected(dial_.TakeStream());
  }
  ++context_.counters.failed_reconnects;
  owner_.OnNotConnected(DialError(name_, was_connected_, dial_.error()));
}

}  // namespace distbench::protocol
