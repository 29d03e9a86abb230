// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/data_connections.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/base/time_units.h"
#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;

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
  EXPECT_FALSE(socket->info.tcpi_options & TCPI_OPT_ECN);
  EXPECT_EQ(socket->info.tcpi_segs_out, 8u);
  EXPECT_EQ(socket->info.tcpi_total_retrans, 0u);
  EXPECT_EQ(socket->info.tcpi_delivered_ce, 0u);
  EXPECT_EQ(socket->info.tcpi_rtt, 17u);
  EXPECT_EQ(socket->info.tcpi_min_rtt, 8u);
  EXPECT_EQ(socket->info.tcpi_snd_cwnd, 15u);
  EXPECT_EQ(socket->info.tcpi_delivery_rate, 4'096'000'000u);
}

TEST(ParseTcpSocketTest, ReadsLosses) {
  std::string message = Bytes(kClientEnd);
  message[kOptions] |= 8;  // TCPI_OPT_ECN
  message[kRetransmitted] = 3;
  message[kMarked] = 2;
  const std::optional<TcpSocket> socket = ParseTcpSocket(message);
  ASSERT_TRUE(socket.has_value());
  EXPECT_TRUE(socket->info.tcpi_options & TCPI_OPT_ECN);
  EXPECT_EQ(socket->info.tcpi_total_retrans, 3u);
  EXPECT_EQ(socket->info.tcpi_delivered_ce, 2u);
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

TEST(ParseTcpSocketTest, AnOldKernelSaysLess) {
  std::string message = Bytes(kClientEnd).substr(0, kInfo + 104);
  const uint16_t attribute_size = 104 + 4;
  message.replace(kInfo - 4, 2,
                  std::string(reinterpret_cast<const char*>(&attribute_size),
                              sizeof(attribute_size)));
  const std::optional<TcpSocket> socket = ParseTcpSocket(message);
  ASSERT_TRUE(socket.has_value());
  EXPECT_EQ(socket->info.tcpi_rtt, 17u);
  EXPECT_EQ(socket->info.tcpi_segs_out, 0u);
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

constexpr int64_t kMillisecond = 1'000'000;

// A node with the engine processes 70 and 80, on a host whose sockets the test
// sets.
class DataConnectionWatchTest : public testing::Test {
 protected:
  DataConnectionWatch::Options Options() {
    return {.clock = &clock_,
            .root = host_.root(),
            .engines = [this] { return engines_; },
            .list_sockets = [this]() -> absl::StatusOr<std::vector<TcpSocket>> {
              ++list_count_;
              if (!list_status_.ok()) return list_status_;
              std::vector<TcpSocket> list;
              for (const auto& [inode, socket] : sockets_) {
                list.push_back(socket);
              }
              return list;
            },
            .cpu_time_ns = [this] { return cpu_time_ns_ += cpu_cost_ns_; }};
  }

  // Opens a file of a process.
  void Open(int pid, int file, const std::string& target) {
    const std::string folder = absl::StrCat(host_.root(), "/proc/", pid, "/fd");
    std::filesystem::create_directories(folder);
    std::filesystem::create_symlink(target, absl::StrCat(folder, "/", file));
  }

  // A new connection of a process.
  TcpSocket& Connect(int pid, uint32_t inode) {
    Open(pid, static_cast<int>(inode), absl::StrCat("socket:[", inode, "]"));
    return AddSocket(inode);
  }

  // A connection of the host.
  TcpSocket& AddSocket(uint32_t inode) {
    TcpSocket& socket = sockets_[inode];
    socket.cookie = 1000 + inode;
    socket.inode = inode;
    socket.local.bytes = {10, 0, 0, 1};
    socket.local.port = static_cast<uint16_t>(inode);
    socket.peer.bytes = {10, 0, 0, 2};
    socket.peer.port = 5000;
    socket.congestion_control = "cubic";
    return socket;
  }

  static NodeResources Finish(DataConnectionWatch& watch) {
    NodeResources resources;
    watch.Finish(resources);
    return resources;
  }

  numa::FakeHost host_;
  base::FakeClock clock_{100 * base::kNsPerSecond};
  EngineProcesses engines_ = {{70, {"client/0"}}, {80, {"server/0"}}};
  std::map<uint32_t, TcpSocket> sockets_;
  absl::Status list_status_;
  int list_count_ = 0;
  int64_t cpu_time_ns_ = 0;
  int64_t cpu_cost_ns_ = 0;
};

TEST_F(DataConnectionWatchTest, CountsWhatEngineConnectionsSentInBetween) {
  TcpSocket& a = Connect(70, 1);
  TcpSocket& b = Connect(80, 2);
  TcpSocket& other_program = AddSocket(3);
  a.info.tcpi_segs_out = 1000;
  a.info.tcpi_total_retrans = 50;
  a.info.tcpi_delivered_ce = 7;
  DataConnectionWatch watch(Options());
  watch.Start();
  a.info.tcpi_segs_out = 1100;
  a.info.tcpi_total_retrans = 53;
  a.info.tcpi_delivered_ce = 8;
  a.info.tcpi_rtt = 100;
  b.info.tcpi_segs_out = 20;
  b.info.tcpi_rtt = 300;
  other_program.info.tcpi_segs_out = 9999;
  other_program.info.tcpi_rtt = 9999;
  const auto sample = watch.Sample();
  ASSERT_TRUE(sample.has_value());
  EXPECT_EQ(sample->connection_count(), 2);
  EXPECT_EQ(sample->sent_segments(), 120);
  EXPECT_EQ(sample->retransmitted_segments(), 3);
  EXPECT_EQ(sample->congestion_marked_segments(), 1);
  EXPECT_EQ(sample->mean_rtt_ns(), 200'000);
  EXPECT_EQ(sample->max_rtt_ns(), 300'000);
}

TEST_F(DataConnectionWatchTest, TheMeanIsOfConnectionsWithARoundTrip) {
  Connect(70, 1).info.tcpi_rtt = 100;
  Connect(70, 2);
  DataConnectionWatch watch(Options());
  watch.Start();
  EXPECT_EQ(watch.Sample()->mean_rtt_ns(), 100'000);
  sockets_[1].info.tcpi_rtt = 0;
  EXPECT_FALSE(watch.Sample()->has_mean_rtt_ns());
}

TEST_F(DataConnectionWatchTest, ANewConnectionCountsFromItsBeginning) {
  Connect(70, 1);
  DataConnectionWatch watch(Options());
  watch.Start();
  Connect(80, 2).info.tcpi_segs_out = 5;
  EXPECT_EQ(watch.Sample()->sent_segments(), 5);
}

TEST_F(DataConnectionWatchTest, CountersMayWrapAround) {
  TcpSocket& socket = Connect(70, 1);
  socket.info.tcpi_segs_out = UINT32_MAX - 9;
  DataConnectionWatch watch(Options());
  watch.Start();
  socket.info.tcpi_segs_out = 5;
  EXPECT_EQ(watch.Sample()->sent_segments(), 15);
  EXPECT_EQ(Finish(watch).data_connections(0).sent_segments(),
            int64_t{UINT32_MAX} + 6);
}

TEST_F(DataConnectionWatchTest, DescribesEachConnection) {
  TcpSocket& socket = Connect(80, 2);
  socket.info.tcpi_options = TCPI_OPT_ECN;
  DataConnectionWatch watch(Options());
  watch.Start();
  socket.info.tcpi_segs_out = 400;
  socket.info.tcpi_total_retrans = 4;
  socket.info.tcpi_delivered_ce = 3;
  socket.info.tcpi_rtt = 300;
  socket.info.tcpi_snd_cwnd = 30;
  socket.info.tcpi_delivery_rate = 5000;
  watch.Sample();
  socket.info.tcpi_rtt = 100;
  socket.info.tcpi_min_rtt = 60;
  socket.info.tcpi_snd_cwnd = 10;
  socket.info.tcpi_delivery_rate = 2000;
  const NodeResources resources = Finish(watch);
  ASSERT_THAT(resources.data_connections(), SizeIs(1));
  const DataConnection& connection = resources.data_connections(0);
  EXPECT_EQ(connection.instance(), "server/0");
  EXPECT_EQ(connection.local_address(), "10.0.0.1:2");
  EXPECT_EQ(connection.peer_address(), "10.0.0.2:5000");
  EXPECT_EQ(connection.congestion_control(), "cubic");
  EXPECT_TRUE(connection.uses_ecn());
  EXPECT_EQ(connection.sent_segments(), 400);
  EXPECT_EQ(connection.retransmitted_segments(), 4);
  EXPECT_EQ(connection.congestion_marked_segments(), 3);
  EXPECT_EQ(connection.min_rtt_ns(), 60'000);
  EXPECT_EQ(connection.mean_rtt_ns(), 200'000);
  EXPECT_EQ(connection.max_rtt_ns(), 300'000);
  EXPECT_EQ(connection.min_congestion_window(), 0) << "at the start";
  EXPECT_EQ(connection.max_congestion_window(), 30);
  EXPECT_EQ(connection.max_delivery_rate(), 5000);
  EXPECT_FALSE(resources.has_omitted_data_connections());
}

TEST_F(DataConnectionWatchTest, AConnectionWithoutARoundTripHasNone) {
  Connect(70, 1).info.tcpi_min_rtt = ~uint32_t{0};
  Connect(70, 2);
  DataConnectionWatch watch(Options());
  watch.Start();
  const NodeResources resources = Finish(watch);
  ASSERT_THAT(resources.data_connections(), SizeIs(2));
  for (const DataConnection& connection : resources.data_connections()) {
    EXPECT_FALSE(connection.has_min_rtt_ns());
    EXPECT_FALSE(connection.has_mean_rtt_ns());
  }
}

TEST_F(DataConnectionWatchTest, AProcessOfSeveralInstancesNamesNone) {
  engines_[70] = {"client/0", "client/1"};
  Connect(70, 1);
  DataConnectionWatch watch(Options());
  watch.Start();
  EXPECT_FALSE(Finish(watch).data_connections(0).has_instance());
}

TEST_F(DataConnectionWatchTest, AClosedSocketIsFollowedToItsEnd) {
  TcpSocket& socket = Connect(70, 1);
  DataConnectionWatch watch(Options());
  watch.Start();
  // The kernel still sends what is left.
  socket.inode = 0;
  socket.info.tcpi_segs_out = 7;
  EXPECT_EQ(watch.Sample()->sent_segments(), 7);
  sockets_.clear();
  EXPECT_EQ(watch.Sample()->connection_count(), 0);
  EXPECT_EQ(Finish(watch).data_connections(0).sent_segments(), 7);
}

TEST_F(DataConnectionWatchTest, ASocketThatIsListedTwiceCountsOnce) {
  Connect(70, 1).info.tcpi_segs_out = 5;
  DataConnectionWatch watch(Options());
  watch.Start();
  sockets_[2] = sockets_[1];
  EXPECT_EQ(watch.Sample()->connection_count(), 1);
}

TEST_F(DataConnectionWatchTest, StartForgets) {
  Connect(70, 1);
  DataConnectionWatch watch(Options());
  watch.Start();
  sockets_.clear();
  watch.Sample();
  watch.Start();
  EXPECT_THAT(Finish(watch).data_connections(), SizeIs(0));
}

TEST_F(DataConnectionWatchTest, DescribesTheWorstIfThereAreTooMany) {
  DataConnectionWatch::Options options = Options();
  options.max_described = 3;
  DataConnectionWatch watch(options);
  watch.Start();
  // Most of them end, and are soon too many to be remembered.
  for (uint32_t inode = 1; inode <= 20; ++inode) {
    Connect(70, inode).info.tcpi_total_retrans = inode % 10;
    watch.Sample();
    if (inode <= 18) sockets_.erase(inode);
  }
  const NodeResources resources = Finish(watch);
  std::vector<std::string> described;
  for (const DataConnection& connection : resources.data_connections()) {
    described.push_back(absl::StrCat(connection.local_address(), " ",
                                     connection.retransmitted_segments()));
  }
  EXPECT_THAT(described,
              ElementsAre("10.0.0.1:9 9", "10.0.0.1:19 9", "10.0.0.1:8 8"));
  EXPECT_EQ(resources.omitted_data_connections(), 17);
}

// ---- Sockets of processes ---------------------------------------------------

TEST_F(DataConnectionWatchTest, OnlySocketsOfEnginesCount) {
  Open(70, 3, "/dev/null");
  Open(70, 4, "pipe:[11]");
  Open(70, 5, "socket:[12");
  Open(70, 6, "socket:[x]");
  Connect(90, 13);
  for (const uint32_t inode : {0u, 11u, 12u}) AddSocket(inode);
  DataConnectionWatch watch(Options());
  watch.Start();
  for (int i = 0; i < 2; ++i) {
    const auto sample = watch.Sample();
    ASSERT_TRUE(sample.has_value()) << "it is known that there are none";
    EXPECT_TRUE(sample->has_connection_count());
    EXPECT_EQ(sample->connection_count(), 0);
  }
}

TEST_F(DataConnectionWatchTest, ASocketIsFoundThoughItsFileIsOpenedLater) {
  AddSocket(1);
  DataConnectionWatch watch(Options());
  watch.Start();
  Connect(70, 1);
  EXPECT_EQ(watch.Sample()->connection_count(), 1);
}

TEST_F(DataConnectionWatchTest, FilesAreNotReadAgainForKnownSockets) {
  Connect(70, 1);
  AddSocket(2);
  DataConnectionWatch watch(Options());
  watch.Start();
  watch.Sample();
  std::filesystem::remove_all(host_.root());
  EXPECT_EQ(watch.Sample()->connection_count(), 1);
  // If they were read now, nothing would be known about this new connection.
  sockets_[1].cookie = 5;
  EXPECT_EQ(watch.Sample()->connection_count(), 1);
}

TEST_F(DataConnectionWatchTest, WithoutEnginesTheKernelIsNotAsked) {
  engines_.clear();
  DataConnectionWatch watch(Options());
  watch.Start();
  EXPECT_FALSE(watch.Sample().has_value());
  EXPECT_EQ(list_count_, 0);
}

TEST_F(DataConnectionWatchTest, AKernelThatDoesNotTellIsNoError) {
  Connect(70, 1);
  list_status_ = absl::NotFoundError("no module");
  DataConnectionWatch watch(Options());
  watch.Start();
  EXPECT_FALSE(watch.Sample().has_value());
  EXPECT_THAT(Finish(watch).data_connections(), SizeIs(0));
}

// ---- Cost -------------------------------------------------------------------

TEST_F(DataConnectionWatchTest, ASampleASecondIsCheapEnough) {
  Connect(70, 1);
  DataConnectionWatch watch(Options());
  watch.Start();
  cpu_cost_ns_ = 10 * kMillisecond;
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(base::kNsPerSecond);
    EXPECT_TRUE(watch.Sample().has_value()) << i;
  }
}

TEST_F(DataConnectionWatchTest, ExpensiveSamplesAreRareAndLoseNothing) {
  TcpSocket& socket = Connect(70, 1);
  DataConnectionWatch watch(Options());
  watch.Start();
  cpu_cost_ns_ = 25 * kMillisecond;
  std::vector<int64_t> sent;
  for (int i = 0; i < 7; ++i) {
    clock_.Advance(base::kNsPerSecond);
    socket.info.tcpi_segs_out += 10;
    const auto sample = watch.Sample();
    sent.push_back(sample ? sample->sent_segments() : -1);
  }
  EXPECT_THAT(sent, ElementsAre(10, -1, -1, 30, -1, -1, 30));
}

}  // namespace
}  // namespace distbench::node
