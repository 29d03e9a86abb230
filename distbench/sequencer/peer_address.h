#ifndef DISTBENCH_SEQUENCER_PEER_ADDRESS_H_
#define DISTBENCH_SEQUENCER_PEER_ADDRESS_H_

#include "absl/strings/string_view.h"

namespace distbench {

// Whether a peer, as gRPC names it ("ipv4:127.0.0.1:4711"), is on this host:
// reached over loopback or a Unix socket, or part of this process.
bool IsLocalPeer(absl::string_view peer);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_PEER_ADDRESS_H_
