#include "distbench/sequencer/peer_address.h"

#include "absl/strings/match.h"

namespace distbench {

bool IsLocalPeer(absl::string_view peer) {
  // Only a peer in the same process has no address.
  if (peer == "unknown") return true;
  // Whether gRPC percent-encodes brackets depends on its version.
  for (absl::string_view prefix :
       {"ipv4:127.", "ipv6:[::1]:", "ipv6:%5B::1%5D:", "ipv6:[::ffff:127.",
        "ipv6:%5B::ffff:127.", "unix:", "unix-abstract:", "inproc"}) {
    if (absl::StartsWith(peer, prefix)) return true;
  }
  return false;
}

}  // namespace distbench
