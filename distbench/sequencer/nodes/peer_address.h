#ifndef DISTBENCH_SEQUENCER_NODES_PEER_ADDRESS_H_
#define DISTBENCH_SEQUENCER_NODES_PEER_ADDRESS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace distbench {

// Whether a peer, as gRPC names it ("ipv4:127.0.0.1:4711"), is on this host:
// connected over loopback or a Unix socket, or in this process.
bool IsLocalPeer(absl::string_view peer);

// The address of a peer without its port, such as "127.0.0.1" or "::1". A name
// without an address is returned as it is.
std::string PeerHost(absl::string_view peer);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_NODES_PEER_ADDRESS_H_
