// Where to listen, and why one can not.

#ifndef DISTBENCH_SEQUENCER_LISTEN_ADDRESS_H_
#define DISTBENCH_SEQUENCER_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/status.h"

namespace distbench {

// "ADDRESS:PORT" as gRPC takes it; an empty address is all interfaces, and IPv6
// addresses get brackets.
std::string BindAddress(const std::string& address, int port);

// Whether a server could listen there: resolves the address and binds to all
// that it stands for. The error says whether the address is unknown, is not of
// this host, or the port is in use or not allowed.
absl::Status CheckCanListen(const std::string& address, int port);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_LISTEN_ADDRESS_H_
