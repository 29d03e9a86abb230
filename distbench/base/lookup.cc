// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/lookup.h"

#include <sys/socket.h>

#include "absl/status/status.h"

namespace distbench::base {

absl::StatusOr<AddressList> LookUp(const std::string& host,
                                   const std::string& port, int flags) {
  addrinfo hints = {};
  hints.ai_flags = flags | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const bool is_any = host.empty() && (flags & AI_PASSIVE) != 0;
  const int error = getaddrinfo(is_any ? nullptr : host.c_str(), port.c_str(),
                                &hints, &first);
  if (error != 0) return absl::NotFoundError(gai_strerror(error));
  return AddressList(first, freeaddrinfo);
}

}  // namespace distbench::base
