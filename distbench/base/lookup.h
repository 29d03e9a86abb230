// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Addresses of hosts, by the system's resolver.

#ifndef DISTBENCH_BASE_LOOKUP_H_
#define DISTBENCH_BASE_LOOKUP_H_

#include <netdb.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace distbench::base {

// A list, by ai_next, in the order in which to try them.
using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// Returns at least one address of `host` for streams (TCP), which is a name or
// an address in digits. The port is a number; if it is empty, that of the
// addresses is 0. `flags` are further ones of getaddrinfo(3), such as
// AI_PASSIVE, with which an empty host stands for all interfaces; without it,
// that is no host.
//
// NOT_FOUND has the resolver's reason alone, such as "Name or service not
// known". Blocks while servers are asked. Thread-safe.
absl::StatusOr<AddressList> LookUp(const std::string& host,
                                   const std::string& port, int flags = 0);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_LOOKUP_H_
