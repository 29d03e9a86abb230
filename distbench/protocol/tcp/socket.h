// Thin wrappers around TCP and Unix sockets. All sockets are non-blocking.

#ifndef DISTBENCH_PROTOCOL_TCP_SOCKET_H_
#define DISTBENCH_PROTOCOL_TCP_SOCKET_H_

#include <sys/socket.h>
#include <sys/uio.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"

namespace distbench {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
};

// Resolves "HOST:PORT", "[HOST]:PORT" or a Unix address (unix_address.h) to at
// least one address. May query a name server.
absl::StatusOr<std::vector<SocketAddress>> ResolveAddress(
    const std::string& address);

// Listens at a Unix address.
absl::StatusOr<FileDescriptor> ListenAtUnixAddress(
    absl::string_view unix_address);

// Takes a connection from the queue. With no connection there, the result is
// not open and errno is EAGAIN; else errno says what went wrong.
FileDescriptor AcceptConnection(int listener);

// Starts to connect. If that fails at once, the result is not open and errno
// says why.
FileDescriptor BeginConnect(const SocketAddress& address);

// Returns the socket's pending error and clears it; 0 if there is none.
int TakeSocketError(int fd);

// As recv(), but repeats the call after signals.
ssize_t Receive(int fd, char* buffer, size_t size);

// As sendmsg() of these pieces, but repeats the call after signals and raises
// no SIGPIPE.
ssize_t SendPieces(int fd, const iovec* pieces, int count);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_SOCKET_H_
