// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/digest.h"

#include <openssl/sha.h>

namespace distbench::base {

std::string Sha256(absl::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         digest);
  return std::string(reinterpret_cast<const char*>(digest), sizeof(digest));
}

}  // namespace distbench::base
