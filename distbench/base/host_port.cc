// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/host_port.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace distbench::base {

bool IsLocalPeer(absl::string_view peer) {
  // Only a peer in the same process has no address.
  if (peer == "unknown") return true;
  // gRPC percent-encodes brackets, depending on its version.
  for (absl::string_view prefix :
       {"ipv4:127.", "ipv6:[::1]:", "ipv6:%5B::1%5D:", "ipv6:[::ffff:127.",
        "ipv6:%5B::ffff:127.", "unix:", "unix-abstract:", "inproc"}) {
    if (absl::StartsWith(peer, prefix)) return true;
  }
  return false;
}

std::string PeerHost(absl::string_view peer) {
  absl::string_view host = peer;
  if (!absl::ConsumePrefix(&host, "ipv4:") &&
      !absl::ConsumePrefix(&host, "ipv6:")) {
    return std::string(peer);
  }
  host = host.substr(0, host.rfind(':'));
  if (!absl::ConsumePrefix(&host, "[")) absl::ConsumePrefix(&host, "%5B");
  if (!absl::ConsumeSuffix(&host, "]")) absl::ConsumeSuffix(&host, "%5D");
  return std::string(host);
}

}  // namespace distbench::base
