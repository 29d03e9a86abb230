// Addresses of Unix sockets, for drivers whose setting "transport" is "unix".
//
// The sockets are abstract: they are names within a network namespace, not
// files, and vanish with the process that listens. An address says to which
// host it belongs, so that a client elsewhere fails at once and knows why.
// Anybody on the host can connect, as to a loopback port.

#ifndef DISTBENCH_PROTOCOL_UNIX_ADDRESS_H_
#define DISTBENCH_PROTOCOL_UNIX_ADDRESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::protocol {

// Begins an address, which is "unix-abstract:NAME" as in gRPC. NAME follows a
// NUL in the socket's address, and fits into it.
inline constexpr char kUnixScheme[] = "unix-abstract:";

bool IsUnixAddress(absl::string_view address);

// Returns an address at which nothing listens yet. The error says that the
// setting cannot be combined with TLS, which Unix sockets do not use, or that
// the host cannot be identified.
absl::StatusOr<std::string> NewUnixAddress(bool uses_tls);

// Returns an error if the Unix socket belongs to another host.
absl::Status CheckIsOfThisHost(absl::string_view unix_address);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_UNIX_ADDRESS_H_
