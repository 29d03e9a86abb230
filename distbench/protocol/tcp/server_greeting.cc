#include "distbench/protocol/tcp/server_greeting.h"

#include <cerrno>
#include <string>

namespace distbench::protocol {

StreamError ServerGreeting::Continue(Stream& stream) {
  if (!is_secured_) {
    const StreamError error = Secure(stream);
    if (error != StreamError::kNone || !is_secured_) return error;
  }
  return Greet(stream);
}

// TLS is ready at once if it is not used.
StreamError ServerGreeting::Secure(Stream& stream) {
  const security::TlsSession::State state = stream.Handshake();
  // A new connection has enough room for the output of a handshake.
  is_secured_ = state == security::TlsSession::State::kReady;
  return state == security::TlsSession::State::kFailed ? StreamError::kTlsFailed
                                                       : StreamError::kNone;
}

StreamError ServerGreeting::Greet(Stream& stream) {
  while (greeting_.missing_bytes() > 0) {
    char buffer[kClientHelloBytes];
    // Not a byte more, because messages may follow.
    const ssize_t received = stream.Receive(buffer, greeting_.missing_bytes());
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (received <= 0) return StreamError::kClosedByPeer;
    const StreamError error =
        greeting_.Receive(absl::string_view(buffer, received));
    Send(stream);
    if (error != StreamError::kNone) return error;
  }
  return StreamError::kNone;
}

void ServerGreeting::Send(Stream& stream) {
  std::string output = greeting_.TakeOutput();
  if (output.empty()) return;
  const iovec piece = {.iov_base = output.data(), .iov_len = output.size()};
  // A new connection has room for it, or is broken, which the next read
  // notices.
  [[maybe_unused]] const ssize_t sent = stream.Send(&piece, 1);
}

}  // namespace distbench::protocol
