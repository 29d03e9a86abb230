#include "distbench/sequencer/peer_address.h"

#include "absl/strings/match.h"

namespace distbench {

bool IsLocalPeer(absl::string_view peer) {
  // gRPC percent-encodes brackets, or does not, by its version. The address of
  // a peer in the same process has no form that it promises.
  for (absl::string_view prefix :
       {"ipv4:127.", "ipv6:[::1]:", "ipv6:%5B::1%5D:", "ipv6:[::ffff:127.",
        "ipv6:%5B::ffff:127.", "unix:", "unix-abstract:", "inproc"}) {
    if (absl::StartsWith(peer, prefix)) return true;
  }
  return false;
}

}  // namespace distbench
