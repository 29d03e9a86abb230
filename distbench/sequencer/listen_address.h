// Where to listen, and why one can not.

#ifndef DISTBENCH_SEQUENCER_LISTEN_ADDRESS_H_
#define DISTBENCH_SEQUENCER_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace distbench {

// "ADDRESS:PORT" as gRPC takes it; an empty address is all interfaces, and IPv6
// addresses get brackets.
std::string BindAddress(const std::string& address, int port);

// Whether a server could listen there: resolves the address and binds to all
// that it stands for. The error says whether the address is unknown, is not of
// this host, or the port is in use or not allowed.
absl::Status CheckCanListen(const std::string& address, int port);

// A port that is free at everything that the address stands for. Left to
// itself, gRPC picks one that is free for IPv4 or for IPv6, and clients that
// try the other one first may find a stranger there.
absl::StatusOr<int> FindFreePort(const std::string& address);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_LISTEN_ADDRESS_H_
