// Instances that expect TLS announce it in their addresses. A node uses TLS for
// all of its connections or for none.

#ifndef DISTBENCH_PROTOCOL_ANNOUNCED_TLS_H_
#define DISTBENCH_PROTOCOL_ANNOUNCED_TLS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/protocol/driver.h"

namespace distbench {

// Returns the address as a driver's Listen() returns it.
std::string AnnounceTls(std::string address, bool uses_tls);

// Returns the peers at the addresses to dial. The error names a peer that uses
// TLS although this side does not, or the other way round.
absl::StatusOr<std::vector<Peer>> PeersToDial(std::vector<Peer> peers,
                                              bool uses_tls);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_ANNOUNCED_TLS_H_
