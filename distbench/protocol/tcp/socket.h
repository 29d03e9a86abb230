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

// Same, and asks for a time stamp of when the last byte that is sent leaves
// (SO_TIMESTAMPING): `stamp` is the flag that says by whose clock.
ssize_t SendStamped(int fd, const iovec* pieces, int count, uint32_t stamp,
                    int flags = 0);

// A time of the kernel's and of the network interface's clock, in Unix
// nanoseconds, each 0 if it is not there.
struct WireStamp {
  int64_t software_ns = 0;
  int64_t hardware_ns = 0;
};

// As Receive(), and returns the time stamp of the last segment of which it has
// returned a byte, if the socket asks for such stamps.
ssize_t ReceiveStamped(int fd, char* buffer, size_t size, WireStamp& stamp);

// As SendPieces() of one piece, with MSG_ZEROCOPY. The bytes must never change,
// because nobody waits until the kernel has read them. The kernel reports each
// such send in the socket's error queue, which must be emptied.
ssize_t SendWithoutCopy(int fd, const iovec& piece);

// What the kernel has reported of sends without copy.
struct ZeroCopyReports {
  int64_t sends = 0;
  int64_t copied = 0;  // of which the kernel did copy the bytes
};

// An entry of a socket's error queue: what became of sends without copy, or
// when a send left.
struct SocketReport {
  ZeroCopyReports zero_copy = {};
  bool is_stamp = false;
  uint32_t last_byte = 0;  // of the send, by its position (wire_time.h)
  WireStamp stamp = {};
};

// Takes the next entry of a TCP socket's error queue. Returns false if there is
// none.
bool TakeReport(int fd, SocketReport& report);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_SOCKET_H_
