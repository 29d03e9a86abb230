#include "distbench/node/tcp_sockets.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::Contains;
using ::testing::Field;

// Answers of Linux 6.18 about connections of 127.0.0.1, to a socket for IPv4
// and IPv6: its client's end, and its server's end.
const char kClientEnd[] =
    "02010000cb20b2f37f0000010000000000000000000000007f0000010000000000000000"
    "000000000000000008000000000000000000000000000000000000000000000059ef3800"
    "050008000000000008000f00000000000c00150001000000000000000600160052000000"
    "1c010200010000000007aa01e01c0300409c000000800000180200000000000000000000"
    "00000000000000000000000000000000000000000000000000000000ffff0000d7ff0000"
    "110000000b000000ffffff7f0f000000cbff00001100000000000000d7ff000000000000"
    "ac51dbb608000000fffffffffffffffff501000000000000050000000000000008000000"
    "0700000000000000080000000500000005000000000024f4000000000000000000000000"
    "000000000000000000000000000000000600000000000000f40100000000000000000000"
    "000000000000000000000000000000000000010000000100000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000008000400"
    "62627200";
const char kServerEnd[] =
    "0a010100b2f3cb2000000000000000000000ffff7f00000100000000000000000000ffff"
    "7f000001000000000a00000000000000cc0000000000000001000000000000005aef3800"
    "050008000000000008000f00000000000c00150001000000000000000600160012000000"
    "1c010200010000000007aa01e01c0300409c000000800000180200000100000000000000"
    "00000000000000000000000000000000000000000000000000000000ffff0000cbff0000"
    "0f00000009000000ffffff7f0e000000cbff00001100000000000000cbff000000000000"
    "c2cef8610a000000ffffffffffffffff0400000000000000f40100000000000006000000"
    "08000000000000000500000005000000050000000000a086010000000000000000000000"
    "000000000000000000000000000000000500000000000000050000000000000000000000"
    "000000000000000000000000000000000000010000000100000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000000008000400"
    "62627200";

// Where the answers have tcp_info, and its fields.
constexpr size_t kInfo = 112;
constexpr size_t kOptions = kInfo + 5;
constexpr size_t kRetransmitted = kInfo + 100;
constexpr size_t kMinRtt = kInfo + 148;
constexpr size_t kMarked = kInfo + 196;

std::string Bytes(const char* hex) { return absl::HexStringToBytes(hex); }

TEST(ParseTcpSocketTest, ReadsWhatTheKernelSaid) {
  const std::optional<TcpSocket> socket = ParseTcpSocket(Bytes(kClientEnd));
  ASSERT_TRUE(socket.has_value());
  EXPECT_EQ(socket->cookie, 8u);
  EXPECT_EQ(socket->inode, 3731289u);
  EXPECT_EQ(socket->local.ToString(), "127.0.0.1:52000");
  EXPECT_EQ(socket->peer.ToString(), "127.0.0.1:45811");
  EXPECT_EQ(socket->congestion_control, "bbr");
  EXPECT_FALSE(socket->uses_ecn);
  EXPECT_EQ(socket->sent_segments, 8u);
  EXPECT_EQ(socket->retransmitted_segments, 0u);
  EXPECT_EQ(socket->congestion_marked_segments, 0u);
  EXPECT_EQ(socket->rtt_ns, 17'000);
  EXPECT_EQ(socket->min_rtt_ns, 8'000);
  EXPECT_EQ(socket->congestion_window, 15u);
  EXPECT_EQ(socket->delivery_rate, 4'096'000'000);
}

TEST(ParseTcpSocketTest, ReadsLosses) {
  std::string message = Bytes(kClientEnd);
  message[kOptions] |= 8;  // TCPI_OPT_ECN
  message[kRetransmitted] = 3;
  message[kMarked] = 2;
  const std::optional<TcpSocket> socket = ParseTcpSocket(message);
  ASSERT_TRUE(socket.has_value());
  EXPECT_TRUE(socket->uses_ecn);
  EXPECT_EQ(socket->retransmitted_segments, 3u);
  EXPECT_EQ(socket->congestion_marked_segments, 2u);
}

TEST(ParseTcpSocketTest, ShowsMappedAddressesAsIpv4) {
  const std::optional<TcpSocket> socket = ParseTcpSocket(Bytes(kServerEnd));
  ASSERT_TRUE(socket.has_value());
  EXPECT_EQ(socket->local.ToString(), "127.0.0.1:45811");
  EXPECT_EQ(socket->peer.ToString(), "127.0.0.1:52000");
}

TEST(ParseTcpSocketTest, ShowsIpv6InBrackets) {
  TcpAddress address{.is_ipv6 = true, .port = 443};
  address.bytes[0] = 0xfd;
  address.bytes[15] = 1;
  EXPECT_EQ(address.ToString(), "[fd00::1]:443");
}

TEST(ParseTcpSocketTest, AConnectionWithoutARoundTripHasNone) {
  std::string message = Bytes(kClientEnd);
  message.replace(kMinRtt, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(ParseTcpSocket(message)->min_rtt_ns, 0);
}

TEST(ParseTcpSocketTest, AnOldKernelSaysLess) {
  std::string message = Bytes(kClientEnd).substr(0, kInfo + 104);
  const uint16_t attribute_size = 104 + 4;
  message.replace(kInfo - 4, 2,
                  std::string(reinterpret_cast<const char*>(&attribute_size),
                              sizeof(attribute_size)));
  const std::optional<TcpSocket> socket = ParseTcpSocket(message);
  ASSERT_TRUE(socket.has_value());
  EXPECT_EQ(socket->rtt_ns, 17'000);
  EXPECT_EQ(socket->sent_segments, 0u);
}

TEST(ParseTcpSocketTest, DamagedMessagesAreRefused) {
  const std::string message = Bytes(kClientEnd);
  const size_t end_of_info = kInfo + 280;
  for (size_t size = 0; size < end_of_info; ++size) {
    EXPECT_FALSE(ParseTcpSocket(message.substr(0, size)).has_value()) << size;
  }
  std::string without_length = message;
  without_length.replace(72, 2, std::string(2, '\0'));
  EXPECT_FALSE(ParseTcpSocket(without_length).has_value());
}

// A connection over loopback.
struct SocketPair {
  explicit SocketPair(int family) {
    const base::FileDescriptor listener(socket(family, SOCK_STREAM, 0));
    sockaddr_storage address{};
    address.ss_family = family;
    if (family == AF_INET6) {
      reinterpret_cast<sockaddr_in6&>(address).sin6_addr = in6addr_loopback;
    } else {
      reinterpret_cast<sockaddr_in&>(address).sin_addr.s_addr =
          htonl(INADDR_LOOPBACK);
    }
    socklen_t size = sizeof(address);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener.get(), plain, size) != 0) return;
    listen(listener.get(), 1);
    getsockname(listener.get(), plain, &size);
    client = base::FileDescriptor(socket(family, SOCK_STREAM, 0));
    if (connect(client.get(), plain, size) != 0) return;
    server = base::FileDescriptor(accept(listener.get(), nullptr, nullptr));
  }

  base::FileDescriptor client;
  base::FileDescriptor server;
};

uint32_t InodeOf(const base::FileDescriptor& file) {
  struct stat status {};
  EXPECT_EQ(fstat(file.get(), &status), 0);
  return static_cast<uint32_t>(status.st_ino);
}

class ListTcpSocketsTest : public testing::TestWithParam<int> {};

TEST_P(ListTcpSocketsTest, FindsBothEndsOfAConnection) {
  const SocketPair pair(GetParam());
  if (!pair.server.is_open()) GTEST_SKIP() << "no such protocol here";
  const auto sockets = ListTcpSockets();
  if (!sockets.ok()) GTEST_SKIP() << sockets.status();
  for (const base::FileDescriptor* const end : {&pair.client, &pair.server}) {
    EXPECT_THAT(*sockets,
                Contains(Field(&TcpSocket::inode, InodeOf(*end))).Times(1));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ListTcpSocketsTest,
                         testing::Values(AF_INET, AF_INET6));

}  // namespace
}  // namespace distbench::node
