// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/listen_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/host_port.h"
#include "distbench/base/lookup.h"

namespace distbench::base {
namespace {

// An empty host is all interfaces.
absl::StatusOr<AddressList> LookUpOwn(const std::string& host,
                                      const std::string& port) {
  absl::StatusOr<AddressList> found = LookUp(host, port, AI_PASSIVE);
  if (found.ok()) return found;
  return absl::InvalidArgumentError(
      absl::StrCat("cannot listen at ", host, ": ", found.status().message()));
}

// Returns a descriptor that is not open if this fails; errno says why.
FileDescriptor Bind(const addrinfo& info, bool takes_ipv4_too,
                    int protocol = 0) {
  FileDescriptor fd(socket(info.ai_family,
                           info.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                           protocol));
  if (!fd.is_open()) return fd;
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (info.ai_family == AF_INET6) {
    const int only = !takes_ipv4_too;
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
  }
  if (bind(fd.get(), info.ai_addr, info.ai_addrlen) != 0) {
    return FileDescriptor();
  }
  return fd;
}

int PortOf(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

// "ADDRESS:PORT" with the address in digits.
std::string ToNumbers(const addrinfo& info, int port) {
  char host[NI_MAXHOST] = "";
  getnameinfo(info.ai_addr, info.ai_addrlen, host, sizeof(host), nullptr, 0,
              NI_NUMERICHOST);
  return JoinHostPort(host, port);
}

// A port that the kernel picks, free on all interfaces; 0 if there is none. Not
// for IPv4 alone: clients try ::1 first for "localhost", and would reach
// whoever has the port there.
int SuggestPort() {
  const absl::StatusOr<ListeningSocket> any =
      ListenAt(JoinHostPort(AllInterfaces(), 0));
  return any.ok() ? any->port : 0;
}

absl::Status Explain(int error, const std::string& address, int port) {
  const std::string where = address.empty()
                                ? absl::StrCat("port ", port)
                                : absl::StrCat("port ", port, " of ", address);
  switch (error) {
    case EADDRINUSE:
      return absl::AlreadyExistsError(absl::StrCat(
          where,
          " is in use, perhaps by another sequencer; stop what listens "
          "there or choose another port (0: any that is free)"));
    case EADDRNOTAVAIL:
      return absl::InvalidArgumentError(
          absl::StrCat(address,
                       " is not an address of this host; name one that is, or "
                       "leave it out to listen on all"));
    case EACCES:
      return absl::PermissionDeniedError(absl::StrCat(
          where, " may not be used by this user; choose one above 1023"));
    default:
      return absl::UnavailableError(
          absl::StrCat("cannot listen at ", where, ": ", strerror(error)));
  }
}

}  // namespace

std::string AllInterfaces() {
  const FileDescriptor probe(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return probe.is_open() || errno != EAFNOSUPPORT ? "::" : "0.0.0.0";
}

absl::StatusOr<ListeningSocket> ListenAt(
    const std::string& address, absl::FunctionRef<void(int fd)> prepare,
    int protocol) {
  const auto [host, port] = SplitHostPort(address);
  const absl::StatusOr<AddressList> found = LookUpOwn(host, port);
  if (!found.ok()) return found.status();
  for (const addrinfo* info = found->get(); info; info = info->ai_next) {
    FileDescriptor socket = Bind(*info, /*takes_ipv4_too=*/true, protocol);
    if (!socket.is_open()) continue;
    prepare(socket.get());
    if (listen(socket.get(), SOMAXCONN) != 0) continue;
    const int port_number = PortOf(socket.get());
    return ListeningSocket{.socket = std::move(socket), .port = port_number};
  }
  return absl::UnavailableError(
      absl::StrCat("cannot listen at ", address, ": ", strerror(errno)));
}

absl::StatusOr<int> FindFreePort(const std::string& address) {
  constexpr int kAttempts = 100;
  absl::Status status;
  for (int i = 0; i < kAttempts; ++i) {
    const int port = SuggestPort();
    status = ListenAddresses(address, port).status();
    if (status.ok()) return port;
    if (!absl::IsAlreadyExists(status)) break;
  }
  return status;
}

absl::StatusOr<std::vector<std::string>> ListenAddresses(
    const std::string& address, int port) {
  if (port < 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no port ", port, "; ports are 0 to 65535"));
  }
  const absl::StatusOr<AddressList> found =
      LookUpOwn(address, absl::StrCat(port));
  if (!found.ok()) return found.status();
  int last_error = EADDRNOTAVAIL;
  std::vector<std::string> addresses;
  for (const addrinfo* info = found->get(); info; info = info->ai_next) {
    // IPv4 has an entry of its own.
    if (Bind(*info, /*takes_ipv4_too=*/false).is_open()) {
      addresses.push_back(ToNumbers(*info, port));
    } else if (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT) {
      // Such as the IPv6 address of localhost on a host without IPv6.
      last_error = errno;
    } else {
      return Explain(errno, address, port);
    }
  }
  if (addresses.empty()) return Explain(last_error, address, port);
  if (address.empty()) return std::vector{JoinHostPort(AllInterfaces(), port)};
  return addresses;
}

}  // namespace distbench::base
