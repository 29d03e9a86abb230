// Targets are gRPC's names for what a channel connects to.

#ifndef DISTBENCH_PROTOCOL_GRPC_WIRE_TARGET_H_
#define DISTBENCH_PROTOCOL_GRPC_WIRE_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::protocol {

// Returns the target of one server; a numeric `host` needs no look-up.
std::string TargetOf(const std::string& host, int port);

// Returns "HOST:PORT" of a target with one server.
std::string HostPortOf(absl::string_view target);

// Returns the target of a channel over several servers, given at least one
// target from TargetOf() or NewUnixAddress(). Looks up names. gRPC requires
// addresses of one family: if they are mixed, IPv4 addresses become IPv4-mapped
// IPv6 ones; Unix sockets cannot be mixed with others.
absl::StatusOr<std::string> JoinTargets(
    const std::vector<std::string>& targets);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_WIRE_TARGET_H_
