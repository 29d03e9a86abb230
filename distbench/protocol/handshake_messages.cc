#include "distbench/protocol/handshake_messages.h"

#include "absl/strings/str_cat.h"
#include "distbench/security/nonce.h"
#include "proto/data_plane.pb.h"

namespace distbench::protocol {

std::string HandshakeRequestWith(absl::string_view challenge) {
  HandshakeRequest message;
  message.set_challenge(std::string(challenge));
  return message.SerializeAsString();
}

absl::StatusOr<std::string> AnswerHandshake(absl::string_view nonce,
                                            absl::string_view request) {
  HandshakeRequest message;
  // Only one length is accepted, so that the answer is of no use elsewhere.
  if (!message.ParseFromArray(request.data(),
                              static_cast<int>(request.size())) ||
      message.challenge().size() != security::kNonceBytes) {
    return absl::InvalidArgumentError("malformed handshake");
  }
  HandshakeResponse response;
  response.set_proof(security::ProveNonce(nonce, message.challenge()));
  return response.SerializeAsString();
}

std::string ProblemOfAnswer(absl::string_view nonce,
                            absl::string_view challenge,
                            absl::string_view answer) {
  HandshakeResponse response;
  if (response.ParseFromArray(answer.data(), static_cast<int>(answer.size())) &&
      security::IsProofOf(nonce, challenge, response.proof())) {
    return "";
  }
  return "it does not know this test's nonce: it takes part in another test "
         "or in none";
}

absl::Status HandshakeStatus(const FailureList& failures) {
  if (failures.empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "no traffic is sent to peer ", failures.ToString(),
      "; check that the address is the peer's (--service_address)"));
}

}  // namespace distbench::protocol
