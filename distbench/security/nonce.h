// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A test's nonce, which only its instances know, and a way to prove knowledge
// of it without revealing it.
//
//   const std::string challenge = DrawNonce();
//   // The peer answers with proof = ProveNonce(nonce, challenge).
//   if (!IsProofOf(nonce, challenge, proof)) ...  // not an instance of the
//   test

#ifndef DISTBENCH_SECURITY_NONCE_H_
#define DISTBENCH_SECURITY_NONCE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench::security {

// Sizes of nonces and challenges, and of proofs.
inline constexpr size_t kNonceBytes = 32;
inline constexpr size_t kProofBytes = 32;

// Returns unpredictable bytes for a nonce or a challenge.
std::string DrawNonce();

// Returns a challenge by which whoever knows the nonce sees that the challenger
// knows it, too. Half of it is unpredictable. As it is not bound to a
// connection, somebody who has read it can send it again: it says who is
// certainly a stranger, and must not open anything.
std::string DrawChallenge(absl::string_view nonce);

// Whether `challenge` is one of DrawChallenge(nonce).
bool IsChallengeOf(absl::string_view nonce, absl::string_view challenge);

// Returns the HMAC-SHA-256 (RFC 2104) of the challenge, keyed with the nonce.
std::string ProveNonce(absl::string_view nonce, absl::string_view challenge);

// Whether `proof` is the correct proof. Compares in constant time.
bool IsProofOf(absl::string_view nonce, absl::string_view challenge,
               absl::string_view proof);

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_NONCE_H_
