// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/netlink.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"

namespace distbench::node {
namespace {

// The kernel sends a dump in parts of at most 32 KiB.
constexpr size_t kBufferBytes = 64 << 10;

absl::Status SendRequest(int fd, uint16_t type, absl::string_view request) {
  nlmsghdr header{};
  header.nlmsg_len = NLMSG_LENGTH(request.size());
  header.nlmsg_type = type;
  header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  const std::string message = absl::StrCat(BytesOf(header), request);
  if (send(fd, message.data(), message.size(), 0) >= 0) return {};
  return absl::ErrnoToStatus(errno, "cannot send a netlink request");
}

absl::StatusOr<absl::string_view> Receive(int fd, std::string& buffer) {
  ssize_t size = 0;
  do {
    size = recv(fd, buffer.data(), buffer.size(), MSG_TRUNC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) {
    return absl::ErrnoToStatus(errno,
                               "the kernel did not answer a netlink "
                               "request");
  }
  if (size == 0 || static_cast<size_t>(size) > buffer.size()) {
    return absl::DataLossError(
        "the kernel sent a netlink message that is too "
        "long");
  }
  return absl::string_view(buffer.data(), size);
}

// Returns whether that was the last part. The last message of an answer begins
// with 0 or a negative error.
absl::StatusOr<bool> TakePart(
    absl::string_view part,
    absl::FunctionRef<void(absl::string_view payload)> on_message) {
  const auto* header = reinterpret_cast<const nlmsghdr*>(part.data());
  int left = static_cast<int>(part.size());
  for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
    absl::string_view payload(static_cast<const char*>(NLMSG_DATA(header)),
                              NLMSG_PAYLOAD(header, 0));
    if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) {
      const int error = -ConsumeStruct<int32_t>(payload).value_or(0);
      if (error <= 0) return true;
      return absl::ErrnoToStatus(error, "the kernel refused a netlink request");
    }
    on_message(payload);
  }
  if (left < static_cast<int>(sizeof(nlmsghdr))) return false;
  return absl::DataLossError("the kernel sent a malformed netlink message");
}

}  // namespace

absl::Status DumpNetlink(
    int family, uint16_t type, absl::string_view request,
    absl::FunctionRef<void(absl::string_view payload)> on_message) {
  const base::FileDescriptor socket(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family));
  if (!socket.is_open()) {
    return absl::ErrnoToStatus(errno, "cannot open a netlink socket");
  }
  const timeval timeout{.tv_sec = 1, .tv_usec = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  absl::Status sent = SendRequest(socket.get(), type, request);
  if (!sent.ok()) return sent;
  std::string buffer(kBufferBytes, '\0');
  for (;;) {
    const absl::StatusOr<absl::string_view> part =
        Receive(socket.get(), buffer);
    if (!part.ok()) return part.status();
    const absl::StatusOr<bool> is_last = TakePart(*part, on_message);
    if (!is_last.ok()) return is_last.status();
    if (*is_last) return absl::OkStatus();
  }
}

void ForEachAttribute(
    absl::string_view attributes,
    absl::FunctionRef<void(uint16_t type, absl::string_view value)> on_value) {
  const auto* attribute = reinterpret_cast<const rtattr*>(attributes.data());
  int left = static_cast<int>(attributes.size());
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    on_value(attribute->rta_type,
             absl::string_view(static_cast<const char*>(RTA_DATA(attribute)),
                               RTA_PAYLOAD(attribute)));
  }
}

}  // namespace distbench::node
