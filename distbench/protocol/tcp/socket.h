// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Thin wrappers around TCP and Unix sockets. All sockets are non-blocking.

#ifndef DISTBENCH_PROTOCOL_TCP_SOCKET_H_
#define DISTBENCH_PROTOCOL_TCP_SOCKET_H_

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"

namespace distbench::protocol {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
};

// Resolves "HOST:PORT", "[HOST]:PORT" or a Unix address (addresses.h) to at
// least one address. May query a name server.
absl::StatusOr<std::vector<SocketAddress>> ResolveAddress(
    const std::string& address);

// Listens at a Unix address.
absl::StatusOr<base::FileDescriptor> ListenAtUnixAddress(
    absl::string_view unix_address);

// Takes a connection from the queue. With no connection there, the result is
// not open and errno is EAGAIN; else errno says what went wrong.
base::FileDescriptor AcceptConnection(int listener);

// Starts to connect. Returns false if that fails at once; errno says why.
bool BeginConnect(int fd, const SocketAddress& address);

// Returns the socket's pending error and clears it; 0 if there is none.
int TakeSocketError(int fd);

// As recv(), but repeats the call after signals.
ssize_t Receive(int fd, char* buffer, size_t size);

// As sendmsg() of these pieces, but repeats the call after signals and raises
// no SIGPIPE. `flags` are more flags of the call.
ssize_t SendPieces(int fd, const iovec* pieces, int count, int flags = 0);

// As SendPieces() of one piece, with MSG_ZEROCOPY. The bytes must never change,
// because nobody waits until the kernel has read them. The kernel reports each
// such send in the socket's error queue, which must be emptied.
ssize_t SendWithoutCopy(int fd, const iovec& piece);

// What the kernel has reported of sends without copy.
struct ZeroCopyReports {
  int64_t sends = 0;
  int64_t copied = 0;  // of which the kernel did copy the bytes
};

// Empties the socket's error queue. The socket must not use it otherwise.
ZeroCopyReports TakeZeroCopyReports(int fd);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_SOCKET_H_
