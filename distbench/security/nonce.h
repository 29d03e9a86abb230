// What the instances of a test know and strangers do not: the test's nonce, and
// how to prove that one knows it without saying it.

#ifndef DISTBENCH_SECURITY_NONCE_H_
#define DISTBENCH_SECURITY_NONCE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench {

// Of nonces and challenges, and of proofs.
inline constexpr size_t kNonceBytes = 32;
inline constexpr size_t kProofBytes = 32;

// Bytes that nobody can foresee: a nonce, or a challenge.
std::string DrawNonce();

// HMAC-SHA-256 (RFC 2104) of the challenge under the nonce.
std::string ProveNonce(absl::string_view nonce, absl::string_view challenge);

// Whether `proof` is that; takes as long for each wrong one.
bool IsProofOf(absl::string_view nonce, absl::string_view challenge,
               absl::string_view proof);

}  // namespace distbench

#endif  // DISTBENCH_SECURITY_NONCE_H_
