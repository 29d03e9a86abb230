// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/socket.h"

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/host_port.h"
#include "distbench/base/lookup.h"
#include "distbench/base/time_units.h"
#include "distbench/protocol/addresses.h"

namespace distbench::protocol {
namespace {

// Names of abstract sockets follow a NUL. Longer names than fit are none of
// NewUnixAddress().
SocketAddress UnixSocketAddress(absl::string_view unix_address) {
  const absl::string_view name = absl::StripPrefix(unix_address, kUnixScheme);
  sockaddr_un socket_address = {};
  socket_address.sun_family = AF_UNIX;
  const size_t length = name.copy(socket_address.sun_path + 1,
                                  sizeof(socket_address.sun_path) - 1);
  SocketAddress address;
  std::memcpy(&address.storage, &socket_address, sizeof(socket_address));
  address.length = offsetof(sockaddr_un, sun_path) + 1 + length;
  return address;
}

int64_t ToNs(const timespec& time) {
  return base::kNsPerSecond * time.tv_sec + time.tv_nsec;
}

// The time stamps of a message; none if it has no such control data.
void ReadStamp(const cmsghdr& header, WireStamp& stamp) {
  timespec times[3];  // the second one is not used any more
  if (header.cmsg_level != SOL_SOCKET || header.cmsg_type != SCM_TIMESTAMPING ||
      header.cmsg_len < CMSG_LEN(sizeof(times))) {
    return;
  }
  std::memcpy(times, CMSG_DATA(&header), sizeof(times));
  stamp = {.software_ns = ToNs(times[0]), .hardware_ns = ToNs(times[2])};
}

void ReadExtendedError(const cmsghdr& header, SocketReport& report) {
  const bool is_error =
      (header.cmsg_level == IPPROTO_IP && header.cmsg_type == IP_RECVERR) ||
      (header.cmsg_level == IPPROTO_IPV6 && header.cmsg_type == IPV6_RECVERR);
  sock_extended_err error;
  if (!is_error || header.cmsg_len < CMSG_LEN(sizeof(error))) return;
  std::memcpy(&error, CMSG_DATA(&header), sizeof(error));
  if (error.ee_origin == SO_EE_ORIGIN_ZEROCOPY) {
    // It stands for a range of sends.
    report.zero_copy.sends = int64_t{1} + (error.ee_data - error.ee_info);
    if (error.ee_code == SO_EE_CODE_ZEROCOPY_COPIED) {
      report.zero_copy.copied = report.zero_copy.sends;
    }
  } else if (error.ee_origin == SO_EE_ORIGIN_TIMESTAMPING &&
             error.ee_info == SCM_TSTAMP_SND) {
    report.is_stamp = true;
    report.last_byte = error.ee_data;
  }
}

ssize_t SendMessage(int fd, const msghdr& message, int flags) {
  ssize_t sent;
  do {
    sent = sendmsg(fd, &message, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

const sockaddr* Generic(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.storage);
}

}  // namespace

absl::StatusOr<std::vector<SocketAddress>> ResolveAddress(
    const std::string& address) {
  if (IsUnixAddress(address)) return std::vector{UnixSocketAddress(address)};
  const auto [host, port] = base::SplitHostPort(address);
  if (host.empty() || port.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", address, "\" is not an address; expected HOST:PORT"));
  }
  const absl::StatusOr<base::AddressList> all = base::LookUp(host, port);
  if (!all.ok()) {
    return absl::NotFoundError(absl::StrCat("cannot connect to peer ", address,
                                            ": cannot resolve ", host, ": ",
                                            all.status().message()));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = all->get(); entry; entry = entry->ai_next) {
    SocketAddress& found = addresses.emplace_back();
    found.length =
        std::min<socklen_t>(entry->ai_addrlen, sizeof(found.storage));
    std::memcpy(&found.storage, entry->ai_addr, found.length);
  }
  return addresses;
}

absl::StatusOr<base::FileDescriptor> ListenAtUnixAddress(
    absl::string_view unix_address) {
  const SocketAddress address = UnixSocketAddress(unix_address);
  base::FileDescriptor fd(
      socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.is_open() || bind(fd.get(), Generic(address), address.length) != 0 ||
      listen(fd.get(), SOMAXCONN) != 0) {
    return absl::UnavailableError(absl::StrCat(
        "cannot listen on ", unix_address, ": ", std::strerror(errno),
        "; check that file descriptors are left, or use transport \"tcp\""));
  }
  return fd;
}

base::FileDescriptor AcceptConnection(int listener) {
  return base::FileDescriptor(
      accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

bool BeginConnect(int fd, const SocketAddress& address) {
  return connect(fd, Generic(address), address.length) == 0 ||
         errno == EINPROGRESS;
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

ssize_t SendPieces(int fd, const iovec* pieces, int count, int flags) {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(pieces);
  message.msg_iovlen = count;
  if (count != 1) return SendMessage(fd, message, flags);
  ssize_t sent;
  do {
    // send() spares the kernel a copy of the message header.
    sent = send(fd, pieces->iov_base, pieces->iov_len,
                flags | MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t SendStamped(int fd, const iovec* pieces, int count, uint32_t stamp,
                    int flags) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(stamp))] = {};
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(pieces);
  message.msg_iovlen = count;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr& header = *CMSG_FIRSTHDR(&message);
  header.cmsg_level = SOL_SOCKET;
  header.cmsg_type = SO_TIMESTAMPING;
  header.cmsg_len = CMSG_LEN(sizeof(stamp));
  std::memcpy(CMSG_DATA(&header), &stamp, sizeof(stamp));
  return SendMessage(fd, message, flags);
}

ssize_t ReceiveStamped(int fd, char* buffer, size_t size, WireStamp& stamp) {
  stamp = {};
  alignas(cmsghdr) char control[128];
  iovec piece = {.iov_base = buffer, .iov_len = size};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  ssize_t received;
  do {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    received = recvmsg(fd, &message, 0);
  } while (received < 0 && errno == EINTR);
  if (received <= 0) return received;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    ReadStamp(*header, stamp);
  }
  return received;
}

ssize_t SendWithoutCopy(int fd, const iovec& piece) {
  const ssize_t sent = SendPieces(fd, &piece, 1, MSG_ZEROCOPY);
  // Too many reports wait: the limit is net.core.optmem_max.
  return sent < 0 && errno == ENOBUFS ? SendPieces(fd, &piece, 1) : sent;
}

bool TakeReport(int fd, SocketReport& report) {
  report = {};
  alignas(cmsghdr) char control[256];
  msghdr message = {};
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return false;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    ReadStamp(*header, report.stamp);
    ReadExtendedError(*header, report);
  }
  return true;
}

}  // namespace distbench::protocol
