// How instances that expect TLS say so: by their addresses. A node uses TLS for
// all of its connections or for none.

#ifndef DISTBENCH_PROTOCOL_ANNOUNCED_TLS_H_
#define DISTBENCH_PROTOCOL_ANNOUNCED_TLS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/protocol/driver.h"

namespace distbench {

// What a driver's Listen() returns for an address.
std::string AnnounceTls(std::string address, bool uses_tls);

// The peers, at the addresses that are to be dialled. The error names one that
// uses TLS where this side does not, or the other way round.
absl::StatusOr<std::vector<Peer>> PeersToDial(std::vector<Peer> peers,
                                              bool uses_tls);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_ANNOUNCED_TLS_H_
