// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/client_connection.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/base/clock.h"
#include "distbench/base/files.h"
#include "distbench/products/http2/message.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/security/nonce.h"

namespace distbench::http2 {
namespace {

// The maximum delay between an abort and its effect.
constexpr absl::Duration kAbortLatency = absl::Milliseconds(100);

// A handshake's frames are far smaller.
constexpr size_t kReadBytes = 16 * 1024;

// The most handshakes that go on before a look at the time.
constexpr int kMaxReady = 64;

// The handshake on one connection, which says hello at once: servers close
// connections that stay silent while others are being made.
class Verification final : public protocol::BegunSession {
 public:
  Verification(protocol::DialTarget& target, const Http2Limits& limits,
               absl::string_view nonce)
      : target_(target),
        session_(std::make_unique<Http2Session>(Http2Session::Side::kClient,
                                                limits, target.name)),
        handshake_(*session_, nonce) {
    Write();
  }

  bool is_over() const { return !problem_.empty() || handshake_.is_over(); }

  // Has the epoll instance tell of what is awaited, as long as anything is.
  void Await(int epoll_fd) {
    if (is_over()) return Forget(epoll_fd);
    const bool writes = outcome_ == protocol::SendQueue::Outcome::kNotEmpty;
    epoll_event event = {};
    event.events = EPOLLIN | (writes ? uint32_t{EPOLLOUT} : 0);
    event.data.ptr = this;
    if (event.events == awaited_) return;
    const int operation = awaited_ == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    awaited_ = event.events;
    if (epoll_ctl(epoll_fd, operation, target_.stream.fd(), &event) != 0) {
      problem_ = base::ExplainDescriptorError(errno);
    }
  }

  // Call this when the connection is ready for what is awaited.
  void Continue() {
    char buffer[kReadBytes];
    const ssize_t received = target_.stream.Receive(buffer, sizeof(buffer));
    if (received == 0) {
      problem_ =
          std::string(protocol::Describe(protocol::StreamError::kClosedByPeer));
    } else if (received < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
      problem_ = target_.stream.Error();
    } else if (received > 0 &&
               !session_->Receive(absl::string_view(buffer, received))) {
      problem_ = "the server there does not speak HTTP/2";
    } else {
      Write();
    }
  }

  // Hands the session over. Returns "" if the peer is in order.
  std::string Finish() {
    if (problem_.empty()) {
      problem_ = handshake_.is_over() ? handshake_.problem()
                                      : "no answer to the handshake in time";
    }
    if (!problem_.empty()) {
      return absl::StrCat(target_.name, " (", problem_, ")");
    }
    target_.session = std::move(session_);
    return "";
  }

 private:
  void Forget(int epoll_fd) {
    if (awaited_ == 0) return;
    epoll_ctl(epoll_fd, EPOLL_CTL_DEL, target_.stream.fd(), nullptr);
    awaited_ = 0;
  }

  void Write() {
    outcome_ = session_->Write(target_.stream);
    if (outcome_ == protocol::SendQueue::Outcome::kBroken) {
      problem_ = target_.stream.Error();
    } else if (session_->is_over() && !is_over()) {
      problem_ = "the server there does not speak HTTP/2";
    }
  }

  protocol::DialTarget& target_;
  std::unique_ptr<Http2Session> session_;
  Http2Handshake handshake_;
  protocol::SendQueue::Outcome outcome_ = protocol::SendQueue::Outcome::kEmpty;
  uint32_t awaited_ = 0;  // events of epoll
  std::string problem_;
};

using Verifications = std::vector<std::unique_ptr<Verification>>;

// Continues all until they are over, time is up or `aborted` is set. A wait
// costs the same however many there are.
absl::Status AwaitAll(const Verifications& all, absl::Time deadline,
                      const std::atomic<bool>& aborted) {
  const base::FileDescriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.is_open()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot wait for handshakes: ", base::ExplainDescriptorError(errno)));
  }
  for (const auto& one : all) one->Await(epoll.get());
  auto left =
      absl::c_count_if(all, [](const auto& one) { return !one->is_over(); });
  while (left > 0 && !aborted) {
    const absl::Duration time_left = deadline - absl::Now();
    if (time_left <= absl::ZeroDuration()) break;
    const int64_t timeout_ms = absl::ToInt64Milliseconds(
        std::min(absl::Ceil(time_left, absl::Milliseconds(1)), kAbortLatency));
    epoll_event ready[kMaxReady];
    const int count =
        epoll_wait(epoll.get(), ready, kMaxReady, static_cast<int>(timeout_ms));
    for (int i = 0; i < count; ++i) {
      auto& one = *static_cast<Verification*>(ready[i].data.ptr);
      one.Continue();
      one.Await(epoll.get());
      if (one.is_over()) --left;
    }
  }
  return absl::OkStatus();
}

}  // namespace

Http2Handshake::Http2Handshake(Http2Session& session, absl::string_view nonce)
    : nonce_(nonce), challenge_(security::DrawChallenge(nonce)) {
  session.set_handler(*this);
  exchange_.output.FillWith(protocol::HandshakeRequestWith(challenge_));
  if (!session.SendRequest(exchange_, protocol::kHandshakeMethod,
                           Http2Session::kNoTimeout)) {
    End("out of memory");
  }
}

void Http2Handshake::OnReceived(Http2Exchange& exchange) {
  if (exchange.grpc_status == absl::StrCat(kGrpcUnimplemented)) {
    End("the server there is not an instance of distbench");
  } else if (!exchange.input.is_complete()) {
    End(absl::StrCat("the handshake failed: ",
                     ErrorOfResponse(exchange.http_status, exchange.grpc_status,
                                     exchange.grpc_message)));
  } else {
    End(protocol::ProblemOfAnswer(nonce_, challenge_, exchange.input.kept()));
  }
}

void Http2Handshake::OnClosed(Http2Exchange&, absl::string_view reason) {
  End(absl::StrCat("the handshake failed: ", reason));
}

void Http2Handshake::End(std::string problem) {
  if (is_over_) return;
  is_over_ = true;
  problem_ = std::move(problem);
}

void BeginHttp2Handshake(protocol::DialTarget& target,
                         const Http2Limits& limits, absl::string_view nonce) {
  target.session = std::make_unique<Verification>(target, limits, nonce);
}

absl::Status VerifyHttp2Peers(absl::Span<protocol::DialTarget> targets,
                              absl::Time deadline,
                              const std::atomic<bool>& aborted) {
  Verifications all;
  for (protocol::DialTarget& target : targets) {
    all.emplace_back(static_cast<Verification*>(target.session.release()));
  }
  if (absl::Status awaited = AwaitAll(all, deadline, aborted); !awaited.ok()) {
    return awaited;
  }
  if (aborted) return absl::CancelledError("connecting was aborted");
  protocol::FailureList failures;
  for (const auto& one : all) {
    std::string failure = one->Finish();
    if (!failure.empty()) failures.Add(std::move(failure));
  }
  return protocol::HandshakeStatus(failures);
}

Http2ClientConnection::Http2ClientConnection(Http2Context& context,
                                             protocol::DialTarget target,
                                             Calls& calls, Listener& listener)
    : DialledConnection(context, target, calls, listener),
      exchanges_(std::make_unique<base::ObjectPool<Exchange>>()) {
  if (!is_open()) return;
  std::unique_ptr<Http2Session> begun(
      static_cast<Http2Session*>(target.session.release()));
  Http2Session::Handler& handler = *this;
  begun->set_handler(handler);
  StartSession(std::move(begun));
}

bool Http2ClientConnection::is_full() const {
  const int64_t queued = session() == nullptr ? 0 : session()->queued_bytes();
  return queued + waiting_bytes_ >= max_queued_bytes_;
}

int64_t Http2ClientConnection::Queue(protocol::ClientCall& call,
                                     uint64_t /*call_id*/,
                                     const payload::RequestHeader& header) {
  Exchange& exchange = *exchanges_->Get();
  exchange.Clear();
  exchange.call = &call;
  call.transport_state = &exchange;
  const int64_t bytes = exchange.output.Fill(header, call.request_bytes);
  MarkDirty();
  if (is_up()) {
    Submit(exchange);
  } else {
    waiting_.push_back(&exchange);
    waiting_bytes_ += exchange.output.bytes_left();
  }
  return bytes;
}

void Http2ClientConnection::Submit(Exchange& exchange) {
  const int64_t deadline_ns = exchange.call->deadline_ns;
  const int64_t timeout_ns =
      deadline_ns == 0 ? Http2Session::kNoTimeout
                       : std::max<int64_t>(1, deadline_ns - base::NowNs());
  if (!session()->SendRequest(exchange, kGenericRpcMethod, timeout_ns)) {
    Fail(exchange, "UNAVAILABLE: there is no memory for another stream");
    exchanges_->Put(&exchange);
  } else if (exchange.stream_id == Http2Session::kLastStreamId) [[unlikely]] {
    RetireOnce();
  }
}

void Http2ClientConnection::Abandon(protocol::ClientCall& call) {
  DialledConnection::Abandon(call);
  auto& exchange = *static_cast<Exchange*>(call.transport_state);
  exchange.call = nullptr;
  if (exchange.stream_id == 0) return;  // it waits; see ContinueHandshake()
  session()->Reset(exchange);
  exchanges_->Put(&exchange);
  MarkDirty();
}

void Http2ClientConnection::OnEvents(uint32_t epoll_events,
                                     protocol::TransportEvents& events) {
  if (epoll_events & EPOLLOUT) OnWritable();
  if (epoll_events & ~uint32_t{EPOLLOUT}) Read(events);
  if (handshake_.has_value()) ContinueHandshake();
  NoticeGoAway();
}

void Http2ClientConnection::OnReceived(Http2Exchange& received) {
  auto& exchange = static_cast<Exchange&>(received);
  if (!Complete(exchange)) {
    Fail(exchange, ErrorOfResponse(exchange.http_status, exchange.grpc_status,
                                   exchange.grpc_message));
  }
  // Otherwise the stream closes now.
  if (exchange.output.bytes_left() == 0) return;
  session()->Reset(exchange);
  exchanges_->Put(&exchange);
}

// Ends the call if its response is in order.
bool Http2ClientConnection::Complete(Exchange& exchange) {
  payload::ResponseHeader header;
  if (exchange.grpc_status != "0" || !exchange.input.is_complete() ||
      !exchange.input.Decode(header)) {
    return false;
  }
  has_answered_ = true;
  Calls::Entry* const entry =
      calls_.EntryOf(*std::exchange(exchange.call, nullptr));
  protocol::ClientCall& call =
      TakeReply(*entry, header, exchange.input.size_bytes(), read_ns());
  call.transport_state = nullptr;
  TakeTimes(header, call);
  events()->OnDone(&call);
  return true;
}

void Http2ClientConnection::OnClosed(Http2Exchange& closed,
                                     absl::string_view reason) {
  auto& exchange = static_cast<Exchange&>(closed);
  if (exchange.call != nullptr && WasRefused(exchange, reason)) {
    NoticeGoAway();
    StampCalls();
    ForgetWireTime(*exchange.call);
    listener_.OnRefused(*std::exchange(exchange.call, nullptr));
  } else if (exchange.call != nullptr) {
    ++context().http2_counters.reset_streams;
    Fail(exchange, absl::StrCat("UNAVAILABLE: ", redialer().name(),
                                " has reset the stream: ", reason));
  }
  exchanges_->Put(&exchange);
}

void Http2ClientConnection::Fail(Exchange& exchange, std::string error) {
  StampCalls();
  protocol::ClientCall& call = *std::exchange(exchange.call, nullptr);
  ForgetWireTime(call);
  calls_.Remove(*calls_.EntryOf(call));
  listener_.OnFailed(call, std::move(error));
}

// Until the handshake is over, the server has not been reached again.
void Http2ClientConnection::Forget() {
  if (handshake_.has_value()) ++context().counters.failed_reconnects;
  handshake_.reset();
  has_answered_ = false;
  waiting_.clear();
  waiting_bytes_ = 0;
  exchanges_ = std::make_unique<base::ObjectPool<Exchange>>();
}

int64_t Http2ClientConnection::next_due_ns() const {
  return handshake_.has_value() ? handshake_due_ns_
                                : DialledConnection::next_due_ns();
}

void Http2ClientConnection::Work(int64_t now_ns) {
  if (now_ns < next_due_ns()) return;
  if (handshake_.has_value()) {
    return GoDown(absl::StrCat("UNAVAILABLE: no answer of ", redialer().name(),
                               " to the handshake in time"));
  }
  DialledConnection::Work(now_ns);
}

void Http2ClientConnection::OnConnected(protocol::Stream stream) {
  auto begun = std::make_unique<Http2Session>(Http2Session::Side::kClient,
                                              context().settings.client,
                                              redialer().name());
  handshake_.emplace(*begun, context().security.test_nonce);
  handshake_due_ns_ = base::NowNs() + context().settings.handshake_timeout_ns;
  Open(std::move(stream), /*watched=*/true);
  StartSession(std::move(begun));
  NoteDue();
}

// Once the handshake is over, sends what has waited.
void Http2ClientConnection::ContinueHandshake() {
  if (session() == nullptr || !handshake_->is_over()) return;
  absl::string_view problem = handshake_->problem();
  if (problem.empty() && session()->was_ended_by_peer()) {
    problem = "the server ends the connection at once (GOAWAY)";
  }
  if (!problem.empty()) {
    return GoDown(protocol::DialError(redialer().name(),
                                      /*was_connected=*/true, problem));
  }
  Http2Session::Handler& handler = *this;
  session()->set_handler(handler);
  handshake_.reset();
  NoteDue();
  waiting_bytes_ = 0;
  for (Exchange* exchange : std::exchange(waiting_, {})) {
    if (exchange->call != nullptr) {
      Submit(*exchange);
    } else {
      exchanges_->Put(exchange);
    }
  }
}

// Returns whether the server ends the connection without having processed the
// request (RFC 9113, section 8.7). From a server that has not answered anything
// yet, a second connection promises no better.
bool Http2ClientConnection::WasRefused(const Exchange& exchange,
                                       absl::string_view reason) const {
  return has_answered_ && session()->was_ended_by_peer() &&
         (!exchange.has_begun || reason == "REFUSED_STREAM");
}

// Calls that were sent may still be answered; further ones would be reset.
void Http2ClientConnection::NoticeGoAway() {
  if (is_up() && session()->was_ended_by_peer()) RetireOnce();
}

void Http2ClientConnection::RetireOnce() {
  if (!std::exchange(is_retired_, true)) listener_.OnRetired(*this);
}

}  // namespace distbench::http2
