#ifndef DISTBENCH_PROTOCOL_TCP_SERVER_GREETING_H_
#define DISTBENCH_PROTOCOL_TCP_SERVER_GREETING_H_

#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/greeting.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::protocol {

// How an accepted connection begins: the TLS handshake, if TLS is used, and the
// greeting. Never waits.
class ServerGreeting {
 public:
  // `nonce` is the test's nonce.
  explicit ServerGreeting(absl::string_view nonce)
      : greeting_(Greeting::Side::kServer, nonce) {}

  // Continues when the stream, which is secured, has bytes to read. Returns an
  // error if the connection must end; with kTlsFailed, the stream explains it.
  StreamError Continue(Stream& stream);

  // Whether messages may follow.
  bool is_over() const { return is_secured_ && greeting_.missing_bytes() == 0; }

 private:
  StreamError Secure(Stream& stream);
  StreamError Greet(Stream& stream);
  void Send(Stream& stream);

  Greeting greeting_;
  bool is_secured_ = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_SERVER_GREETING_H_
