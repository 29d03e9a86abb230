#include "distbench/products/http2/handshake.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/products/http2/grpc_fields.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/handshake_messages.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/security/nonce.h"

namespace distbench::http2 {
namespace {

// The maximum delay between an abort and its effect.
constexpr absl::Duration kAbortLatency = absl::Milliseconds(100);

// A handshake's frames are far smaller.
constexpr size_t kReadBytes = 16 * 1024;

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

  pollfd awaited() const {
    const bool writes = outcome_ == protocol::SendQueue::Outcome::kNotEmpty;
    return {.fd = is_over() ? -1 : target_.stream.fd(),
            .events = static_cast<int16_t>(POLLIN | (writes ? POLLOUT : 0)),
            .revents = 0};
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
  std::string problem_;
};

using Verifications = std::vector<std::unique_ptr<Verification>>;

void AwaitAll(const Verifications& all, absl::Time deadline,
              const std::atomic<bool>& aborted) {
  while (!aborted &&
         !absl::c_all_of(all, [](const auto& one) { return one->is_over(); })) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return;
    std::vector<pollfd> awaited;
    for (const auto& one : all) awaited.push_back(one->awaited());
    const int64_t timeout_ms = absl::ToInt64Milliseconds(
        std::min(absl::Ceil(left, absl::Milliseconds(1)), kAbortLatency));
    poll(awaited.data(), awaited.size(), static_cast<int>(timeout_ms));
    for (size_t i = 0; i < all.size(); ++i) {
      if (awaited[i].revents != 0) all[i]->Continue();
    }
  }
}

}  // namespace

Http2Handshake::Http2Handshake(Http2Session& session, absl::string_view nonce)
    : nonce_(nonce), challenge_(security::DrawNonce()) {
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
  AwaitAll(all, deadline, aborted);
  if (aborted) return absl::CancelledError("connecting was aborted");
  protocol::FailureList failures;
  for (const auto& one : all) {
    std::string failure = one->Finish();
    if (!failure.empty()) failures.Add(std::move(failure));
  }
  return protocol::HandshakeStatus(failures);
}

}  // namespace distbench::http2
