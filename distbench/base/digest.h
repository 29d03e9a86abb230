// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_DIGEST_H_
#define DISTBENCH_BASE_DIGEST_H_

#include <string>

#include "absl/strings/string_view.h"

namespace distbench::base {

// The 32 bytes of the text's SHA-256: the same in all versions and on all
// hosts, so that names which others keep can be made of it.
std::string Sha256(absl::string_view text);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_DIGEST_H_
