// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/driver_parts.h"

#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/text_table.h"
#include "distbench/protocol/addresses.h"
#include "distbench/security/nonce.h"
#include "proto/data_plane.pb.h"

namespace distbench::protocol {
namespace {

constexpr absl::string_view kTlsPrefix = "tls:";

}  // namespace

std::string LossError(absl::string_view server, absl::string_view reason) {
  return absl::StrCat("UNAVAILABLE: the connection to ", server,
                      " was lost: ", reason);
}

std::string DialError(absl::string_view server, bool was_connected,
                      absl::string_view reason) {
  return absl::StrCat("UNAVAILABLE: cannot connect to ", server,
                      was_connected ? " again: " : ": ", reason);
}

void AddCounters(std::initializer_list<DriverCounter> all,
                 std::vector<DriverCounter>& counters) {
  for (const DriverCounter& counter : all) {
    if (counter.value != 0) counters.push_back(counter);
  }
}

void FailureList::Add(std::string failure) {
  if (absl::c_linear_search(failures_, failure)) return;
  failures_.push_back(std::move(failure));
}

std::string FailureList::ToString() const {
  constexpr size_t kMaxNamed = 3;
  return base::JoinSome(failures_, kMaxNamed, ", ", " and ");
}

std::string AnnounceTls(std::string address, bool uses_tls) {
  return uses_tls ? absl::StrCat(kTlsPrefix, address) : address;
}

absl::StatusOr<std::vector<Peer>> PeersToDial(std::vector<Peer> peers,
                                              bool uses_tls) {
  for (Peer& peer : peers) {
    for (std::string& address : peer.addresses) {
      const bool peer_uses_tls = absl::StartsWith(address, kTlsPrefix);
      if (peer_uses_tls != uses_tls) {
        return absl::FailedPreconditionError(absl::StrCat(
            "the node of peer ", address,
            peer_uses_tls ? " uses TLS for its traffic, and this node does not"
                          : " does not use TLS for its traffic, as this node "
                            "does",
            "; start all nodes with --tls_ca, --tls_cert and --tls_key, or "
            "none"));
      }
      if (uses_tls) address.erase(0, kTlsPrefix.size());
      if (!IsUnixAddress(address)) continue;
      absl::Status here = CheckIsOfThisHost(address);
      if (!here.ok()) return here;
    }
  }
  return peers;
}

std::string HandshakeRequestWith(absl::string_view challenge) {
  HandshakeRequest message;
  message.set_challenge(std::string(challenge));
  return message.SerializeAsString();
}

namespace {

// Only one length is accepted, so that the answer is of no use elsewhere.
bool ParseHandshake(absl::string_view request, HandshakeRequest& message) {
  return message.ParseFromArray(request.data(),
                                static_cast<int>(request.size())) &&
         message.challenge().size() == security::kNonceBytes;
}

}  // namespace

absl::StatusOr<std::string> AnswerHandshake(absl::string_view nonce,
                                            absl::string_view request) {
  HandshakeRequest message;
  if (!ParseHandshake(request, message)) {
    return absl::InvalidArgumentError("malformed handshake");
  }
  HandshakeResponse response;
  response.set_proof(security::ProveNonce(nonce, message.challenge()));
  return response.SerializeAsString();
}

bool KnowsNonce(absl::string_view nonce, absl::string_view request) {
  HandshakeRequest message;
  return ParseHandshake(request, message) &&
         security::IsChallengeOf(nonce, message.challenge());
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
