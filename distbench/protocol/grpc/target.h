// How gRPC names what a channel connects to.

#ifndef DISTBENCH_PROTOCOL_GRPC_TARGET_H_
#define DISTBENCH_PROTOCOL_GRPC_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench {

// The target of one server: its address where `host` is one, to save a look-up.
std::string TargetOf(const std::string& host, int port);

// "HOST:PORT" of a target of one server.
std::string HostPortOf(absl::string_view target);

// The target of a channel over several servers, given theirs as TargetOf() made
// them; at least one. Names are looked up. gRPC wants addresses of one family:
// if they are mixed, IPv4 addresses become mapped IPv6 ones.
absl::StatusOr<std::string> JoinTargets(
    const std::vector<std::string>& targets);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_TARGET_H_
