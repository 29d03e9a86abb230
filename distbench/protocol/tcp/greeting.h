// How the two ends of a connection of the tcp driver find out whether they
// belong to the same test, before anything else goes over it. The bytes are in
// frame.h.

#ifndef DISTBENCH_PROTOCOL_TCP_GREETING_H_
#define DISTBENCH_PROTOCOL_TCP_GREETING_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/security/nonce.h"

namespace distbench {

// Of a client's and of a server's hello, with what belongs to it.
inline constexpr size_t kClientHelloBytes = kHelloBytes + kNonceBytes;
inline constexpr size_t kServerHelloBytes = kClientHelloBytes + kProofBytes;

// One side of it, without the socket. Any input is safe.
class Greeting {
 public:
  enum class Side { kClient, kServer };

  // `nonce`: of the test.
  Greeting(Side side, absl::string_view nonce);

  // What is to be sent now; may be empty.
  std::string TakeOutput();

  // Bytes that the peer is still expected to send, before it hears from this
  // side again; 0: the greeting is over, once the output was sent.
  size_t missing_bytes() const { return expected_bytes_ - received_.size(); }

  // Takes bytes of the peer's, at most missing_bytes(). After an error nothing
  // more is expected; there may be output nevertheless.
  StreamError Receive(absl::string_view bytes);

 private:
  StreamError OnServerHello();
  StreamError OnClientHello();
  StreamError OnClientProof();
  std::string Challenges(absl::string_view prover) const;

  const Side side_;
  const std::string nonce_;
  const std::string challenge_;  // this side's
  std::string peer_challenge_;   // once it is known
  std::string output_;
  std::string received_;  // of what is expected
  size_t expected_bytes_ = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_GREETING_H_
