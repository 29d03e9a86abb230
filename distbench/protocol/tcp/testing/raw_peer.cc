// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/testing/raw_peer.h"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/protocol/tcp/network_settings.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

constexpr int kPatienceMs = 20'000;

bool WaitFor(int fd, short events) {
  pollfd descriptor = {.fd = fd, .events = events, .revents = 0};
  return poll(&descriptor, 1, kPatienceMs) == 1;
}

}  // namespace

std::string HelloBytes() {
  std::string bytes(kHelloBytes, '\0');
  EncodeHello(bytes.data());
  return bytes;
}

std::string FrameBytes(FrameHeader header, const std::string& message) {
  std::string bytes(kFrameHeaderBytes, '\0');
  EncodeFrameHeader(header, bytes.data());
  return bytes + message;
}

RawConnection RawConnection::To(const std::string& address) {
  const auto addresses = ResolveAddress(address);
  EXPECT_TRUE(addresses.ok());
  const SocketAddress& first = addresses->front();
  base::FileDescriptor socket = OpenSocket(first.storage.ss_family, {});
  EXPECT_TRUE(BeginConnect(socket.get(), first));
  EXPECT_TRUE(WaitFor(socket.get(), POLLOUT));
  return RawConnection(std::move(socket));
}

void RawConnection::Send(const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    ASSERT_TRUE(WaitFor(socket_.get(), POLLOUT));
    const ssize_t part = send(socket_.get(), bytes.data() + sent,
                              bytes.size() - sent, MSG_NOSIGNAL);
    ASSERT_GE(part, 0) << std::strerror(errno);
    sent += part;
  }
}

bool RawConnection::WaitUntilReadable() {
  return WaitFor(socket_.get(), POLLIN);
}

std::string RawConnection::Receive(size_t count) {
  std::string bytes(count, '\0');
  size_t received = 0;
  while (received < count && WaitUntilReadable()) {
    const ssize_t part = distbench::protocol::Receive(
        socket_.get(), bytes.data() + received, count - received);
    if (part <= 0) break;
    received += part;
  }
  bytes.resize(received);
  return bytes;
}

std::string RawConnection::ReceiveAvailable() {
  std::string bytes(1 << 20, '\0');
  const ssize_t received =
      distbench::protocol::Receive(socket_.get(), bytes.data(), bytes.size());
  bytes.resize(received < 0 ? 0 : received);
  return bytes;
}

void RawConnection::Greet(Greeting::Side side) {
  Greeting greeting(side, "");
  Send(greeting.TakeOutput());
  while (greeting.missing_bytes() > 0) {
    const std::string bytes = Receive(greeting.missing_bytes());
    ASSERT_EQ(bytes.size(), greeting.missing_bytes());
    ASSERT_EQ(greeting.Receive(bytes), StreamError::kNone);
    Send(greeting.TakeOutput());
  }
}

bool RawConnection::PeerCloses() {
  std::vector<char> buffer(1 << 16);
  while (WaitUntilReadable()) {
    const ssize_t received =
        distbench::protocol::Receive(socket_.get(), buffer.data(), buffer.size());
    if (received == 0 || (received < 0 && errno == ECONNRESET)) return true;
    if (received < 0) return false;
  }
  return false;
}

RawListener::RawListener() : listener_(base::ListenAt("127.0.0.1:0").value()) {}

std::string RawListener::address() const {
  return absl::StrCat("127.0.0.1:", listener_.port);
}

RawConnection RawListener::Accept() {
  EXPECT_TRUE(WaitFor(listener_.socket.get(), POLLIN));
  return RawConnection(AcceptConnection(listener_.socket.get()));
}

RawConnection RawListener::AcceptWithHello() {
  RawConnection connection = Accept();
  connection.Greet(Greeting::Side::kServer);
  return connection;
}

}  // namespace distbench::protocol
