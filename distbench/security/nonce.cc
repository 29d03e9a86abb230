// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/nonce.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace distbench::security {
namespace {

unsigned char* AsBytes(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

std::string DrawNonce() {
  std::string nonce(kNonceBytes, '\0');
  // Fails only on a system without any source of randomness.
  CHECK_EQ(RAND_bytes(AsBytes(nonce), static_cast<int>(nonce.size())), 1);
  return nonce;
}

namespace {

constexpr size_t kRandomBytes = kNonceBytes / 2;

// The second half of a challenge with this first half. It is no proof of any
// challenge of a peer, because of its length.
std::string MarkOf(absl::string_view nonce, absl::string_view random) {
  return ProveNonce(nonce, absl::StrCat("distbench challenge ", random))
      .substr(0, kNonceBytes - kRandomBytes);
}

}  // namespace

std::string DrawChallenge(absl::string_view nonce) {
  const std::string random = DrawNonce().substr(0, kRandomBytes);
  return random + MarkOf(nonce, random);
}

bool IsChallengeOf(absl::string_view nonce, absl::string_view challenge) {
  if (challenge.size() != kNonceBytes) return false;
  const std::string mark = MarkOf(nonce, challenge.substr(0, kRandomBytes));
  return CRYPTO_memcmp(challenge.data() + kRandomBytes, mark.data(),
                       mark.size()) == 0;
}

std::string ProveNonce(absl::string_view nonce, absl::string_view challenge) {
  std::string proof(kProofBytes, '\0');
  unsigned int size = 0;
  CHECK(HMAC(EVP_sha256(), nonce.data(), static_cast<int>(nonce.size()),
             reinterpret_cast<const unsigned char*>(challenge.data()),
             challenge.size(), AsBytes(proof), &size) != nullptr);
  CHECK_EQ(size, kProofBytes);
  return proof;
}

bool IsProofOf(absl::string_view nonce, absl::string_view challenge,
               absl::string_view proof) {
  const std::string expected = ProveNonce(nonce, challenge);
  return proof.size() == expected.size() &&
         CRYPTO_memcmp(proof.data(), expected.data(), expected.size()) == 0;
}

}  // namespace distbench::security
