// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/greeting.h"

#include <sys/uio.h>

#include <cerrno>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace distbench::protocol {
namespace {

constexpr absl::string_view kClient = "distbtcp client";
constexpr absl::string_view kServer = "distbtcp server";

std::string Hello() {
  std::string hello(kHelloBytes, '\0');
  EncodeHello(hello.data());
  return hello;
}

}  // namespace

std::unique_ptr<ClientGreeting> MakeTcpGreeting(absl::string_view nonce) {
  return std::make_unique<Greeting>(Greeting::Side::kClient, nonce);
}

Greeting::Greeting(Side side, absl::string_view nonce)
    : side_(side), nonce_(nonce), challenge_(security::DrawNonce()) {
  if (side == Side::kClient) {
    output_ = Hello() + challenge_;
    expected_bytes_ = kServerHelloBytes;
  } else {
    expected_bytes_ = kClientHelloBytes;
  }
}

std::string Greeting::TakeOutput() {
  std::string output;
  output.swap(output_);
  return output;
}

StreamError Greeting::Receive(absl::string_view bytes) {
  const bool is_hello = expected_bytes_ > security::kProofBytes;
  absl::StrAppend(&received_, bytes);
  if (is_hello) {
    const StreamError error =
        CheckHello(absl::string_view(received_).substr(0, kHelloBytes));
    if (error != StreamError::kNone) {
      // Lets a client with another version report that.
      if (error == StreamError::kOtherVersion && side_ == Side::kServer) {
        output_ = Hello();
      }
      return error;
    }
  }
  if (missing_bytes() > 0) return StreamError::kNone;
  if (side_ == Side::kClient) return OnServerHello();
  return is_hello ? OnClientHello() : OnClientProof();
}

// The challenges for one side's proof. A proof is useless for the other side,
// and on another connection.
std::string Greeting::Challenges(absl::string_view prover) const {
  const bool is_client = side_ == Side::kClient;
  return absl::StrCat(prover, is_client ? challenge_ : peer_challenge_,
                      is_client ? peer_challenge_ : challenge_);
}

StreamError Greeting::OnServerHello() {
  peer_challenge_ = received_.substr(kHelloBytes, security::kNonceBytes);
  const absl::string_view proof =
      absl::string_view(received_).substr(kClientHelloBytes);
  if (!security::IsProofOf(nonce_, Challenges(kServer), proof)) {
    return StreamError::kOtherTest;
  }
  output_ = security::ProveNonce(nonce_, Challenges(kClient));
  return StreamError::kNone;
}

StreamError Greeting::OnClientHello() {
  peer_challenge_ = received_.substr(kHelloBytes, security::kNonceBytes);
  output_ = absl::StrCat(Hello(), challenge_,
                         security::ProveNonce(nonce_, Challenges(kServer)));
  received_.clear();
  expected_bytes_ = security::kProofBytes;
  return StreamError::kNone;
}

StreamError Greeting::OnClientProof() {
  return security::IsProofOf(nonce_, Challenges(kClient), received_)
             ? StreamError::kNone
             : StreamError::kOtherTest;
}

namespace {

void SendOutput(Greeting& greeting, Stream& stream) {
  std::string output = greeting.TakeOutput();
  if (output.empty()) return;
  const iovec piece = {.iov_base = output.data(), .iov_len = output.size()};
  // A new connection has room for it, or is broken, which the next read
  // notices.
  [[maybe_unused]] const ssize_t sent = stream.Send(&piece, 1);
}

}  // namespace

StreamError GreetClient(Greeting& greeting, Stream& stream) {
  while (greeting.missing_bytes() > 0) {
    char buffer[kClientHelloBytes];
    const ssize_t received = stream.Receive(buffer, greeting.missing_bytes());
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (received <= 0) return StreamError::kClosedByPeer;
    const StreamError error =
        greeting.Receive(absl::string_view(buffer, received));
    SendOutput(greeting, stream);
    if (error != StreamError::kNone) return error;
  }
  return StreamError::kNone;
}

}  // namespace distbench::protocol
