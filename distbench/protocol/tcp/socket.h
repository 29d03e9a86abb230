// Thin wrappers of TCP sockets; all sockets are non-blocking.

#ifndef DISTBENCH_PROTOCOL_TCP_SOCKET_H_
#define DISTBENCH_PROTOCOL_TCP_SOCKET_H_

#include <sys/socket.h>
#include <sys/uio.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/file_descriptor.h"

namespace distbench {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
};

// What the address "HOST:PORT" or "[HOST]:PORT" stands for; at least one. May
// ask a name server.
absl::StatusOr<std::vector<SocketAddress>> ResolveAddress(
    const std::string& address);

// Takes a connection from the queue. With no connection there, the result is
// not open and errno is EAGAIN; else errno says what went wrong.
FileDescriptor AcceptConnection(int listener);

// Starts to connect. The result is not open if that failed at once; errno says
// why.
FileDescriptor BeginConnect(const SocketAddress& address);

// The error that a socket has, and forgets by that; 0: none.
int TakeSocketError(int fd);

// As recv(); goes on after signals.
ssize_t Receive(int fd, char* buffer, size_t size);

// As sendmsg() of these pieces; goes on after signals, and raises none.
ssize_t SendPieces(int fd, const iovec* pieces, int count);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_SOCKET_H_
