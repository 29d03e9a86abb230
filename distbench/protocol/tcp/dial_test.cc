// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/dial.h"

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/testing/scarce_files.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::HasSubstr;

TEST(DialTest, FilesThatHaveRunOutAreAnError) {
  const std::atomic<bool> aborted = false;
  const base::ScarceFiles no_files;
  const absl::Status status =
      DialAll({}, ConnectionSecurity(), absl::InfiniteFuture(), aborted);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), HasSubstr("Too many open files"));
}

// A server at a Unix socket with room for many new connections, which nobody
// accepts.
class RoomyServer {
 public:
  RoomyServer()
      : name_(NewUnixAddress(/*uses_tls=*/false).value()),
        listener_(ListenAtUnixAddress(name_).value()) {}

  DialTarget Target() const {
    return {.name = name_, .addresses = ResolveAddress(name_).value()};
  }

 private:
  const std::string name_;
  const base::FileDescriptor listener_;
};

// A server at a Unix socket whose queue of new connections is full.
class BusyServer {
 public:
  BusyServer()
      : name_(NewUnixAddress(/*uses_tls=*/false).value()),
        address_(ResolveAddress(name_).value().front()),
        listener_(ListenAtUnixAddress(name_).value()) {
    // Replaces the length of the queue.
    EXPECT_EQ(listen(listener_.get(), 0), 0);
    while (true) {
      base::FileDescriptor client = OpenSocket(AF_UNIX, NetworkSettings());
      if (!BeginConnect(client.get(), address_)) break;
      clients_.push_back(std::move(client));
    }
  }

  const SocketAddress& address() const { return address_; }
  DialTarget Target() const { return {.name = name_, .addresses = {address_}}; }

  // Takes a connection from the queue. Returns whether there was one.
  bool Accept() { return AcceptConnection(listener_.get()).is_open(); }
  void AcceptAll() {
    while (Accept()) {
    }
  }

 private:
  const std::string name_;
  const SocketAddress address_;
  const base::FileDescriptor listener_;
  std::vector<base::FileDescriptor> clients_;
};

ConnectionSecurity WithoutGreeting() {
  ConnectionSecurity security;
  security.greet = nullptr;
  return security;
}

TEST(DialTest, WaitsForRoomInAQueueOfConnections) {
  BusyServer server;
  std::vector<DialTarget> targets;
  for (int i = 0; i < 50; ++i) targets.push_back(server.Target());
  std::atomic<bool> aborted = false;
  std::atomic<bool> done = false;
  std::thread acceptor([&] {
    while (!done) server.Accept();
  });
  const absl::Status status =
      DialAll(absl::MakeSpan(targets), WithoutGreeting(),
              absl::Now() + absl::Seconds(20), aborted);
  done = true;
  acceptor.join();
  EXPECT_TRUE(status.ok()) << status;
  for (const DialTarget& target : targets) EXPECT_TRUE(target.stream.is_open());
}

TEST(DialTest, AQueueThatStaysFullIsNamed) {
  const BusyServer server;
  DialTarget target = server.Target();
  const std::atomic<bool> aborted = false;
  const absl::Status status =
      DialAll({&target, 1}, WithoutGreeting(),
              absl::Now() + absl::Milliseconds(20), aborted);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.ToString(),
              HasSubstr("its queue of new connections stays full"));
}

TEST(DialTest, ATargetThatTakesLongDoesNotHoldUpOthers) {
  constexpr int kOthers = 200;
  const BusyServer busy;
  const RoomyServer roomy;
  std::vector<DialTarget> targets;
  targets.push_back(busy.Target());
  for (int i = 0; i < kOthers; ++i) targets.push_back(roomy.Target());
  std::atomic<bool> aborted = false;
  int connected = 0;
  // Ends long before the deadline, unless others have to wait for it.
  const absl::Status status =
      DialAll(absl::MakeSpan(targets), WithoutGreeting(),
              absl::Now() + absl::Seconds(20), aborted,
              [&](DialTarget&) { aborted = ++connected == kOthers; });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  EXPECT_EQ(connected, kOthers);
}

TEST(DialTest, TargetsThatWereNotTriedAreNotBlamed) {
  const RoomyServer roomy;
  std::vector<BusyServer> busy(64);
  std::vector<DialTarget> targets;
  for (const BusyServer& server : busy) targets.push_back(server.Target());
  for (int i = 0; i < 36; ++i) targets.push_back(roomy.Target());
  const std::atomic<bool> aborted = false;
  const absl::Status status =
      DialAll(absl::MakeSpan(targets), WithoutGreeting(),
              absl::Now() + absl::Milliseconds(20), aborted);
  EXPECT_THAT(status.ToString(), HasSubstr("stays full) and 61 more;"));
  EXPECT_THAT(status.ToString(),
              HasSubstr("36 more connections were not tried"));
}

class RedialerTest : public testing::Test,
                     private Poller::Watcher,
                     private Redialer::Owner {
 protected:
  static constexpr int64_t kTimeoutNs = 5'000'000;

  RedialerTest() { EXPECT_TRUE(context_.poller.Open().ok()); }

  BusyServer server_;
  const ConnectionSecurity security_ = WithoutGreeting();
  StreamCounters counters_;
  StreamContext context_{security_, counters_, /*spin_ns=*/0};
  Redialer redialer_{
      context_,
      {.name = "busy", .addresses = {}, .address = server_.address()},
      kTimeoutNs,
      *this,
      *this};

  int connected_ = 0;
  std::vector<std::string> errors_;  // of attempts

 private:
  void OnReady(uint32_t, TransportEvents&) override {}
  void OnConnected(Stream) override { ++connected_; }
  void OnNotConnected(const std::string& error) override {
    errors_.push_back(error);
  }
};

TEST_F(RedialerTest, TriesAgainAtABusyServer) {
  redialer_.Request();
  redialer_.Work(0);
  EXPECT_EQ(redialer_.next_due_ns(), Dial::kRetryNs);
  server_.AcceptAll();
  redialer_.Work(Dial::kRetryNs - 1);
  EXPECT_EQ(redialer_.next_due_ns(), Dial::kRetryNs) << "too early";
  redialer_.Work(Dial::kRetryNs);
  EXPECT_TRUE(redialer_.is_dialing());
  EXPECT_EQ(redialer_.next_due_ns(), kTimeoutNs);
  redialer_.Continue();
  EXPECT_EQ(connected_, 1);
  EXPECT_FALSE(redialer_.is_pending());
  EXPECT_EQ(counters_.reconnects, 0) << "there was no connection before";
}

TEST_F(RedialerTest, GivesUpAtAServerThatStaysBusy) {
  redialer_.Request();
  redialer_.Work(0);
  while (redialer_.next_due_ns() < kTimeoutNs) {
    redialer_.Work(redialer_.next_due_ns());
    ASSERT_THAT(errors_, testing::IsEmpty());
  }
  redialer_.Work(kTimeoutNs);
  ASSERT_EQ(errors_.size(), 1);
  EXPECT_THAT(errors_[0],
              testing::StartsWith("UNAVAILABLE: cannot connect to busy: "));
  EXPECT_THAT(errors_[0], HasSubstr("stays full"));
  EXPECT_FALSE(redialer_.is_pending());
  EXPECT_EQ(counters_.failed_reconnects, 1);
}

TEST_F(RedialerTest, WaitsLongerAfterEachFailureUntilAReply) {
  EXPECT_EQ(redialer_.next_due_ns(), INT64_MAX) << "nobody asks for it";
  int64_t now_ns = 1'000'000'000;
  for (const int64_t delay_ms : {1, 2, 4, 8, 16, 32, 64, 128, 256, 256}) {
    redialer_.OnDown(now_ns);
    redialer_.Request();
    ASSERT_EQ(redialer_.next_due_ns(), now_ns + delay_ms * 1'000'000);
    now_ns += 1'000'000'000;
  }
  redialer_.OnReply();
  redialer_.OnDown(now_ns);
  EXPECT_EQ(redialer_.next_due_ns(), now_ns + RetryDelay::kFirstNs);
}

}  // namespace
}  // namespace distbench::protocol
