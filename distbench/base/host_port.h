// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Addresses in the forms in which users, peers and gRPC write them.

#ifndef DISTBENCH_BASE_HOST_PORT_H_
#define DISTBENCH_BASE_HOST_PORT_H_

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace distbench::base {

inline constexpr int kMaxPort = 65535;

// "[node7]" becomes "node7"; other hosts are unchanged.
inline absl::string_view WithoutBrackets(absl::string_view host) {
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    return host.substr(1, host.size() - 2);
  }
  return host;
}

// Returns "1.2.3.4:567", "name:567" or, with brackets around an IPv6 address,
// "[1::2]:567".
inline std::string JoinHostPort(absl::string_view host, int port) {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

// Splits "HOST:PORT" or "[HOST]:PORT" into the host, without brackets, and the
// port, which is empty if there is none.
inline std::pair<std::string, std::string> SplitHostPort(
    absl::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return {std::string(address), ""};
  return {std::string(WithoutBrackets(address.substr(0, colon))),
          std::string(address.substr(colon + 1))};
}

// Whether a peer, as gRPC names it ("ipv4:127.0.0.1:4711"), is on this host, or
// behind a proxy on it: connected over loopback or a Unix socket, or in this
// process.
bool IsLocalPeer(absl::string_view peer);

// The address of a peer without its port, such as "127.0.0.1" or "::1". A name
// without an address is returned as it is.
std::string PeerHost(absl::string_view peer);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_HOST_PORT_H_
