// Makes sure that a server belongs to this client's test, by one RPC, before
// anything else is sent to it.

#ifndef DISTBENCH_PRODUCTS_HTTP2_HANDSHAKE_H_
#define DISTBENCH_PRODUCTS_HTTP2_HANDSHAKE_H_

#include <atomic>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/products/http2/session.h"
#include "distbench/products/http2/settings.h"
#include "distbench/protocol/tcp/dial.h"

namespace distbench::http2 {

// One handshake, on the client. Used by one thread at a time.
class Http2Handshake final : private Http2Session::Handler {
 public:
  // Starts the handshake. The session has this for its handler until the
  // handshake is over, and must then get another one or be destroyed.
  Http2Handshake(Http2Session& session, absl::string_view nonce);

  bool is_over() const { return is_over_; }

  // What is wrong with the server, once the handshake is over; empty if it
  // knows the nonce.
  const std::string& problem() const { return problem_; }

 private:
  // Http2Session::Handler.
  Http2Exchange& OnOpened() override { return exchange_; }
  void OnReceived(Http2Exchange& exchange) override;
  void OnClosed(Http2Exchange& exchange, absl::string_view reason) override;

  void End(std::string problem);

  const std::string nonce_;
  const std::string challenge_;
  Http2Exchange exchange_;
  bool is_over_ = false;
  std::string problem_;
};

// Begins a session and its handshake on a connection that was just made. The
// target must stay where it is until VerifyHttp2Peers().
void BeginHttp2Handshake(protocol::DialTarget& target,
                         const Http2Limits& limits, absl::string_view nonce);

// Completes the handshakes that were begun, and leaves an Http2Session in each
// target. The error names the servers that do not know the nonce. Returns
// CANCELLED soon after `aborted` is set.
absl::Status VerifyHttp2Peers(absl::Span<protocol::DialTarget> targets,
                              absl::Time deadline,
                              const std::atomic<bool>& aborted);

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_HANDSHAKE_H_
