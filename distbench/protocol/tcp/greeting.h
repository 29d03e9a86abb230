// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The two ends of a tcp driver's connection greet each other, to find out
// whether they belong to the same test, before any other data is sent. See
// frame.h for the bytes.

#ifndef DISTBENCH_PROTOCOL_TCP_GREETING_H_
#define DISTBENCH_PROTOCOL_TCP_GREETING_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/security/nonce.h"

namespace distbench::protocol {

// Sizes of a client's and a server's hello with all that accompanies it.
inline constexpr size_t kClientHelloBytes = kHelloBytes + security::kNonceBytes;
inline constexpr size_t kServerHelloBytes =
    kClientHelloBytes + security::kProofBytes;

// One side of the greeting, without the socket. Any input is safe.
class Greeting final : public ClientGreeting {
 public:
  enum class Side { kClient, kServer };

  // `nonce` is the test's nonce.
  Greeting(Side side, absl::string_view nonce);

  // As ClientGreeting, also for a server. After an error there may be output.
  std::string TakeOutput() override;
  size_t missing_bytes() const override {
    return expected_bytes_ - received_.size();
  }
  StreamError Receive(absl::string_view bytes) override;

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

// Continues the greeting of a client on its stream, as far as the socket
// allows. Not a byte more is read, because requests may follow.
StreamError GreetClient(Greeting& greeting, Stream& stream);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_GREETING_H_
