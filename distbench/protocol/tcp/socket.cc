#include "distbench/protocol/tcp/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench {
namespace {

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

absl::StatusOr<AddressList> LookUp(const std::string& host,
                                   const std::string& port, int flags) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* first = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &first);
  if (error != 0) {
    return absl::NotFoundError(
        absl::StrCat("can not resolve ", host, ": ", gai_strerror(error)));
  }
  return AddressList(first, freeaddrinfo);
}

// Without it the last packet of a batch may wait for an acknowledgement.
void SendAtOnce(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int PortOf(int fd) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage),
              &address.length);
  const auto port =
      address.storage.ss_family == AF_INET6
          ? reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port
          : reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port;
  return ntohs(port);
}

// Not open if that fails; errno says why.
FileDescriptor ListenAt(const addrinfo& address) {
  FileDescriptor fd(socket(address.ai_family,
                           address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                           0));
  if (!fd.is_open()) return fd;
  if (address.ai_family == AF_INET6) {
    const int off = 0;
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  if (bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      listen(fd.get(), SOMAXCONN) != 0) {
    return FileDescriptor();
  }
  return fd;
}

}  // namespace

absl::StatusOr<std::vector<SocketAddress>> ResolveAddress(
    const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", address, "\" is no address; expected HOST:PORT"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const auto list = LookUp(host, address.substr(colon + 1), AI_NUMERICSERV);
  if (!list.ok()) {
    return absl::NotFoundError(absl::StrCat("can not connect to peer ", address,
                                            ": ", list.status().message()));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = list->get(); entry; entry = entry->ai_next) {
    SocketAddress& found = addresses.emplace_back();
    found.length =
        std::min<socklen_t>(entry->ai_addrlen, sizeof(found.storage));
    std::memcpy(&found.storage, entry->ai_addr, found.length);
  }
  return addresses;
}

absl::StatusOr<Listener> ListenOn(const std::string& host) {
  const auto list = LookUp(host, "0", AI_NUMERICSERV | AI_PASSIVE);
  if (!list.ok()) return list.status();
  for (const addrinfo* entry = list->get(); entry; entry = entry->ai_next) {
    FileDescriptor socket = ListenAt(*entry);
    if (!socket.is_open()) continue;
    const int port = PortOf(socket.get());
    return Listener{.socket = std::move(socket), .port = port};
  }
  return absl::UnavailableError(std::strerror(errno));
}

FileDescriptor AcceptConnection(int listener) {
  FileDescriptor fd(
      accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd.is_open()) SendAtOnce(fd.get());
  return fd;
}

FileDescriptor BeginConnect(const SocketAddress& address) {
  FileDescriptor fd(socket(address.storage.ss_family,
                           SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return fd;
  SendAtOnce(fd.get());
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage),
              address.length) != 0 &&
      errno != EINPROGRESS) {
    const int error = errno;
    fd.Close();
    errno = error;
  }
  return fd;
}

int TakeSocketError(int fd) {
  int error = 0;
  socklen_t length = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

ssize_t Receive(int fd, char* buffer, size_t size) {
  ssize_t received;
  do {
    received = recv(fd, buffer, size, 0);
  } while (received < 0 && errno == EINTR);
  return received;
}

ssize_t SendPieces(int fd, const iovec* pieces, int count) {
  constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(pieces);
  message.msg_iovlen = count;
  ssize_t sent;
  do {
    // send() spares the kernel copying descriptions.
    sent = count == 1 ? send(fd, pieces->iov_base, pieces->iov_len, kFlags)
                      : sendmsg(fd, &message, kFlags);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace distbench
