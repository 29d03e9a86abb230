#include "distbench/base/listen_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace distbench {
namespace {

struct FreeAddressInfo {
  void operator()(addrinfo* info) const { freeaddrinfo(info); }
};

// 0, or the errno of what failed.
int TryToBind(const addrinfo& info) {
  const int fd = socket(info.ai_family, info.ai_socktype, info.ai_protocol);
  if (fd < 0) return errno;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (info.ai_family == AF_INET6) {
    // IPv4 has an entry of its own.
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  }
  const int error = bind(fd, info.ai_addr, info.ai_addrlen) == 0 ? 0 : errno;
  close(fd);
  return error;
}

// "ADDRESS:PORT" with the address in digits.
std::string ToNumbers(const addrinfo& info, int port) {
  char host[NI_MAXHOST] = "";
  getnameinfo(info.ai_addr, info.ai_addrlen, host, sizeof(host), nullptr, 0,
              NI_NUMERICHOST);
  return info.ai_family == AF_INET6 ? absl::StrCat("[", host, "]:", port)
                                    : absl::StrCat(host, ":", port);
}

// A port that the kernel picks, free on all interfaces for IPv4; 0 if there is
// none.
int SuggestPort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return 0;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound =
      bind(fd, generic, size) == 0 && getsockname(fd, generic, &size) == 0;
  close(fd);
  return bound ? ntohs(address.sin_port) : 0;
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
          absl::StrCat("can not listen at ", where, ": ", strerror(error)));
  }
}

}  // namespace

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
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.empty() ? nullptr : address.c_str(),
                                absl::StrCat(port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("can not listen at ", address, ": ", gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, FreeAddressInfo> owner(found);
  int last_error = EADDRNOTAVAIL;
  std::vector<std::string> addresses;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    const int error = TryToBind(*info);
    if (error == 0) {
      addresses.push_back(ToNumbers(*info, port));
    } else if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT) {
      // Such as the IPv6 address of localhost on a host without IPv6.
      last_error = error;
    } else {
      return Explain(error, address, port);
    }
  }
  if (addresses.empty()) return Explain(last_error, address, port);
  if (address.empty()) return std::vector{absl::StrCat("[::]:", port)};
  return addresses;
}

}  // namespace distbench
