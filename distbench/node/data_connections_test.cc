#include "distbench/node/data_connections.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/base/time_units.h"
#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

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
  std::map<pid_t, std::string> engines_ = {{70, "client/0"}, {80, "server/0"}};
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
  a.sent_segments = 1000;
  a.retransmitted_segments = 50;
  a.congestion_marked_segments = 7;
  DataConnectionWatch watch(Options());
  watch.Start();
  a.sent_segments = 1100;
  a.retransmitted_segments = 53;
  a.congestion_marked_segments = 8;
  a.rtt_ns = 100;
  b.sent_segments = 20;
  b.rtt_ns = 300;
  other_program.sent_segments = 9999;
  other_program.rtt_ns = 9999;
  const auto sample = watch.Sample();
  ASSERT_TRUE(sample.has_value());
  EXPECT_EQ(sample->connection_count(), 2);
  EXPECT_EQ(sample->sent_segments(), 120);
  EXPECT_EQ(sample->retransmitted_segments(), 3);
  EXPECT_EQ(sample->congestion_marked_segments(), 1);
  EXPECT_EQ(sample->mean_rtt_ns(), 200);
  EXPECT_EQ(sample->max_rtt_ns(), 300);
}

TEST_F(DataConnectionWatchTest, TheMeanIsOfConnectionsWithARoundTrip) {
  Connect(70, 1).rtt_ns = 100;
  Connect(70, 2);
  DataConnectionWatch watch(Options());
  watch.Start();
  EXPECT_EQ(watch.Sample()->mean_rtt_ns(), 100);
  sockets_[1].rtt_ns = 0;
  EXPECT_FALSE(watch.Sample()->has_mean_rtt_ns());
}

TEST_F(DataConnectionWatchTest, ANewConnectionCountsFromItsBeginning) {
  Connect(70, 1);
  DataConnectionWatch watch(Options());
  watch.Start();
  Connect(80, 2).sent_segments = 5;
  EXPECT_EQ(watch.Sample()->sent_segments(), 5);
}

TEST_F(DataConnectionWatchTest, CountersMayWrapAround) {
  TcpSocket& socket = Connect(70, 1);
  socket.sent_segments = UINT32_MAX - 9;
  DataConnectionWatch watch(Options());
  watch.Start();
  socket.sent_segments = 5;
  EXPECT_EQ(watch.Sample()->sent_segments(), 15);
  EXPECT_EQ(Finish(watch).data_connections(0).sent_segments(),
            int64_t{UINT32_MAX} + 6);
}

TEST_F(DataConnectionWatchTest, DescribesEachConnection) {
  TcpSocket& socket = Connect(80, 2);
  socket.uses_ecn = true;
  DataConnectionWatch watch(Options());
  watch.Start();
  socket.sent_segments = 400;
  socket.retransmitted_segments = 4;
  socket.congestion_marked_segments = 3;
  socket.rtt_ns = 300;
  socket.congestion_window = 30;
  socket.delivery_rate = 5000;
  watch.Sample();
  socket.rtt_ns = 100;
  socket.min_rtt_ns = 60;
  socket.congestion_window = 10;
  socket.delivery_rate = 2000;
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
  EXPECT_EQ(connection.min_rtt_ns(), 60);
  EXPECT_EQ(connection.mean_rtt_ns(), 200);
  EXPECT_EQ(connection.max_rtt_ns(), 300);
  EXPECT_EQ(connection.min_congestion_window(), 0) << "at the start";
  EXPECT_EQ(connection.max_congestion_window(), 30);
  EXPECT_EQ(connection.max_delivery_rate(), 5000);
  EXPECT_FALSE(resources.has_omitted_data_connections());
}

TEST_F(DataConnectionWatchTest, AProcessOfSeveralInstancesNamesNone) {
  engines_[70] = "";
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
  socket.sent_segments = 7;
  EXPECT_EQ(watch.Sample()->sent_segments(), 7);
  sockets_.clear();
  EXPECT_EQ(watch.Sample()->connection_count(), 0);
  EXPECT_EQ(Finish(watch).data_connections(0).sent_segments(), 7);
}

TEST_F(DataConnectionWatchTest, ASocketThatIsListedTwiceCountsOnce) {
  Connect(70, 1).sent_segments = 5;
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
    Connect(70, inode).retransmitted_segments = inode % 10;
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
    socket.sent_segments += 10;
    const auto sample = watch.Sample();
    sent.push_back(sample ? sample->sent_segments() : -1);
  }
  EXPECT_THAT(sent, ElementsAre(10, -1, -1, 30, -1, -1, 30));
}

}  // namespace
}  // namespace distbench::node
