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
  const int error =
      getaddrinfo(host.empty() ? nullptr : host.c_str(),
                  port.empty() ? nullptr : port.c_str(), &hints, &first);
  if (error != 0) return absl::NotFoundError(gai_strerror(error));
  return AddressList(first, freeaddrinfo);
}

}  // namespace distbench::base
