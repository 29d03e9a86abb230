// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests how a tcp server handles clients that misbehave.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/tcp_driver.h"
#include "distbench/protocol/tcp/testing/raw_peer.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

constexpr FrameHeader kEmptyRequest = {.kind = FrameKind::kRequest};

// By default a request so large that one read cannot take many of them.
std::string RequestFor(int64_t reply_bytes, int64_t request_bytes = 60'000) {
  const payload::RequestHeader header{.response_bytes = reply_bytes};
  const payload::MessageLayout layout =
      payload::LayOutMessage(header, request_bytes);
  std::string message(layout.total_bytes(), 'D');
  payload::WriteHead(header, layout, message.data());
  return FrameBytes({.message_bytes = static_cast<uint32_t>(message.size()),
                     .head_bytes = static_cast<uint32_t>(layout.head_bytes)},
                    message);
}

// Greets a driver, which another thread must poll, and sends these bytes.
std::thread SendGreeted(RawConnection& connection, std::string bytes) {
  return std::thread([&connection, bytes = std::move(bytes)] {
    connection.Greet(Greeting::Side::kClient);
    connection.Send(bytes);
  });
}

class TcpServerTest : public testing::Test {
 protected:
  void Start(const TcpSettings& settings = ReadTcpSettings({})) {
    server_ = std::make_unique<TestServer>(
        [&] {
          auto driver = std::make_unique<TcpDriver>(
              settings, AddressPreference{}, "127.0.0.1");
          driver_ = driver.get();
          return driver;
        },
        [this](Transport& transport, ServerCall* call) {
          ++requests_;
          TestEvents::ReplyAsAsked(transport, call);
        });
  }

  RawConnection Connect() { return RawConnection::To(server_->address()); }

  RawConnection ConnectWithHello() {
    RawConnection connection = Connect();
    connection.Greet(Greeting::Side::kClient);
    return connection;
  }

  // The server must close a connection that sends this after the hello.
  void ExpectRefused(const std::string& bytes, StreamError error) {
    RawConnection connection = ConnectWithHello();
    connection.Send(bytes);
    EXPECT_TRUE(connection.PeerCloses());
    EXPECT_EQ(driver_->counters().errors(error), 1) << Describe(error);
  }

  TcpDriver* driver_ = nullptr;
  std::unique_ptr<TestServer> server_;
  std::atomic<int> requests_ = 0;
};

TEST_F(TcpServerTest, StrangersAreRefusedAtTheirFirstBytes) {
  Start();
  RawConnection connection = Connect();
  connection.Send("GET");
  EXPECT_TRUE(connection.PeerCloses());
  EXPECT_EQ(driver_->counters().errors(StreamError::kNoHello), 1);
}

TEST_F(TcpServerTest, OtherVersionsAreToldOfOurs) {
  Start();
  RawConnection connection = Connect();
  std::string hello = HelloBytes();
  hello[8] = 99;
  connection.Send(hello);
  EXPECT_EQ(connection.Receive(kHelloBytes), HelloBytes());
  EXPECT_TRUE(connection.PeerCloses());
  EXPECT_EQ(driver_->counters().errors(StreamError::kOtherVersion), 1);
}

TEST_F(TcpServerTest, ClientsOfAnotherTestAreRefused) {
  Start();
  RawConnection connection = Connect();
  Greeting greeting(Greeting::Side::kClient, "");
  connection.Send(greeting.TakeOutput());
  EXPECT_EQ(connection.Receive(kServerHelloBytes).size(), kServerHelloBytes);
  connection.Send(std::string(security::kProofBytes, 'x') +
                  FrameBytes(kEmptyRequest, ""));
  EXPECT_TRUE(connection.PeerCloses());
  EXPECT_EQ(driver_->counters().errors(StreamError::kOtherTest), 1);
  EXPECT_EQ(requests_, 0);
}

TEST_F(TcpServerTest, WhoSaysNoHelloIsNotWaitedForForever) {
  TcpSettings settings = ReadTcpSettings({});
  settings.handshake_timeout_ns = 20'000'000;
  Start(settings);
  RawConnection silent = Connect();
  RawConnection slow = Connect();
  slow.Send(HelloBytes().substr(0, 5));
  EXPECT_TRUE(silent.PeerCloses());
  EXPECT_TRUE(slow.PeerCloses());
  EXPECT_EQ(driver_->counters().errors(StreamError::kHelloTimeout), 2);
}

// Before their time is over.
TEST_F(TcpServerTest, OfTooManyNewConnectionsTheOldestIsGivenUp) {
  TcpSettings settings = ReadTcpSettings({});
  settings.strangers.connections = 2;
  Start(settings);
  RawConnection good = ConnectWithHello();
  good.Send(FrameBytes(kEmptyRequest, ""));
  EXPECT_EQ(good.Receive(kFrameHeaderBytes).size(), kFrameHeaderBytes);
  RawConnection first = Connect();
  RawConnection second = Connect();
  RawConnection third = Connect();
  EXPECT_TRUE(first.PeerCloses());
  EXPECT_EQ(driver_->counters().errors(StreamError::kStranger), 1);
  good.Send(FrameBytes(kEmptyRequest, ""));
  EXPECT_EQ(good.Receive(kFrameHeaderBytes).size(), kFrameHeaderBytes);
}

TEST_F(TcpServerTest, GreetingsMayComeInPiecesAndWithRequests) {
  Start();
  RawConnection connection = Connect();
  Greeting greeting(Greeting::Side::kClient, "");
  const std::string hello = greeting.TakeOutput();
  connection.Send(hello.substr(0, 5));
  connection.Send(hello.substr(5));
  ASSERT_EQ(greeting.Receive(connection.Receive(kServerHelloBytes)),
            StreamError::kNone);
  connection.Send(greeting.TakeOutput() + FrameBytes(kEmptyRequest, ""));
  EXPECT_EQ(connection.Receive(kFrameHeaderBytes).size(), kFrameHeaderBytes);
  EXPECT_EQ(requests_, 1);
}

TEST_F(TcpServerTest, MalformedFramesCloseTheConnection) {
  Start();
  ExpectRefused(FrameBytes({.kind = FrameKind::kReply}, ""),
                StreamError::kWrongFrameKind);
  ExpectRefused(FrameBytes({.message_bytes = 0xffffffff}, ""),
                StreamError::kOversizedMessage);
  ExpectRefused(
      FrameBytes({.message_bytes = 1 << 20, .head_bytes = kMaxHeadBytes + 1},
                 ""),
      StreamError::kOversizedHead);
  ExpectRefused(FrameBytes({.message_bytes = 1, .head_bytes = 2}, ""),
                StreamError::kHeadBeyondMessage);
  ExpectRefused(FrameBytes({.message_bytes = 1, .head_bytes = 1}, "\xff"),
                StreamError::kMalformedMessage);
  EXPECT_EQ(requests_, 0);
}

TEST_F(TcpServerTest, RequestsBeforeAMalformedFrameAreHandled) {
  Start();
  RawConnection connection = ConnectWithHello();
  connection.Send(FrameBytes(kEmptyRequest, "") +
                  FrameBytes({.kind = FrameKind::kReply}, ""));
  EXPECT_TRUE(connection.PeerCloses());
  EXPECT_EQ(requests_, 1);
}

TEST_F(TcpServerTest, OtherConnectionsGoOn) {
  Start();
  RawConnection good = ConnectWithHello();
  ExpectRefused(std::string(100, '\xff'), StreamError::kWrongFrameKind);
  good.Send(FrameBytes(kEmptyRequest, ""));
  EXPECT_EQ(good.Receive(kFrameHeaderBytes).size(), kFrameHeaderBytes);
}

TEST_F(TcpServerTest, AClientThatDoesNotReadIsNotServedWithoutEnd) {
  TcpSettings settings = ReadTcpSettings({});
  settings.send_queue_bytes = 1 << 20;
  Start(settings);
  RawConnection connection = ConnectWithHello();
  constexpr int kRequests = 200;
  constexpr int kReplyBytes = 1 << 20;
  const std::string request = RequestFor(kReplyBytes);
  std::thread sender([&] {
    for (int i = 0; i < kRequests; ++i) connection.Send(request);
  });
  // How much the socket buffers hold depends on the system, but is much less
  // than all replies.
  // After many turns of the server's loop:
  RawConnection other = ConnectWithHello();
  constexpr int kOtherRequests = 50;
  for (int i = 0; i < kOtherRequests; ++i) {
    other.Send(FrameBytes(kEmptyRequest, ""));
    EXPECT_EQ(other.Receive(kFrameHeaderBytes).size(), kFrameHeaderBytes);
  }
  EXPECT_LT(requests_, kOtherRequests + kRequests / 2);
  // Once the client reads, it gets everything.
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(connection.Receive(kReplyBytes + kFrameHeaderBytes).size(),
              kReplyBytes + kFrameHeaderBytes);
  }
  sender.join();
  EXPECT_EQ(requests_, kRequests + kOtherRequests);
}

// Their replies wait for the end of the server's turn, not for the client.
TEST_F(TcpServerTest, RequestsThatComeTogetherDoNotEndTheReading) {
  TcpSettings settings = ReadTcpSettings({});
  settings.send_queue_bytes = 64 << 10;
  Start(settings);
  RawConnection connection = ConnectWithHello();
  // More than the queue may hold, and too little to be written before.
  constexpr int kTogether = 5;
  constexpr int kReplyBytes = 15'000;
  std::string requests;
  for (int i = 0; i < kTogether; ++i) requests += RequestFor(kReplyBytes, 100);
  constexpr size_t kReplies = kTogether * (kReplyBytes + kFrameHeaderBytes);
  for (int i = 0; i < 3; ++i) {
    connection.Send(requests);
    ASSERT_EQ(connection.Receive(kReplies).size(), kReplies);
  }
}

TEST_F(TcpServerTest, RepliesToAClientThatHasGoneAreDropped) {
  TcpDriver driver(ReadTcpSettings({}), {}, "127.0.0.1");
  const std::string address = driver.Listen(1).value();
  std::vector<ServerCall*> waiting;
  TestEvents events(driver.transport(0), [&](Transport&, ServerCall* call) {
    waiting.push_back(call);
  });
  RawConnection connection = RawConnection::To(address);
  const std::string frame = FrameBytes(kEmptyRequest, "");
  std::thread client = SendGreeted(connection, frame + frame);
  ASSERT_TRUE(events.PollUntil([&] { return waiting.size() == 2; }));
  client.join();
  connection.Close();
  ASSERT_TRUE(events.PollUntil([&] {
    return driver.counters().errors(StreamError::kClosedByPeer) +
               driver.counters().errors(StreamError::kSocketFailed) ==
           1;
  }));
  // One is answered too late, and the other never.
  driver.transport(0).Reply(waiting[0]);
  driver.transport(0).Poll(0, events);
}

TEST_F(TcpServerTest, RepliesAfterShutdownGoNowhere) {
  TcpDriver driver(ReadTcpSettings({}), {}, "127.0.0.1");
  const std::string address = driver.Listen(1).value();
  std::vector<ServerCall*> waiting;
  TestEvents events(driver.transport(0), [&](Transport&, ServerCall* call) {
    waiting.push_back(call);
  });
  RawConnection connection = RawConnection::To(address);
  std::thread client = SendGreeted(connection, FrameBytes(kEmptyRequest, ""));
  ASSERT_TRUE(events.PollUntil([&] { return waiting.size() == 1; }));
  client.join();
  std::atomic<bool> done = false;
  std::thread shutdown([&] {
    driver.Shutdown();
    done = true;
  });
  ASSERT_TRUE(events.PollUntil([&] { return done.load(); }));
  shutdown.join();
  driver.transport(0).Reply(waiting[0]);
  EXPECT_TRUE(connection.PeerCloses());
}

TEST_F(TcpServerTest, ConnectionsAreSpreadOverTheWorkers) {
  constexpr int kWorkers = 3;
  TcpDriver driver(ReadTcpSettings({}), {}, "127.0.0.1");
  const std::string address = driver.Listen(kWorkers).value();
  int requests[kWorkers] = {};
  std::vector<RawConnection> connections;
  for (int i = 0; i < 2 * kWorkers; ++i) {
    connections.push_back(RawConnection::To(address));
  }
  std::vector<std::thread> clients;
  for (RawConnection& connection : connections) {
    clients.push_back(SendGreeted(connection, FrameBytes(kEmptyRequest, "")));
  }
  std::vector<std::unique_ptr<TestEvents>> events;
  for (int i = 0; i < kWorkers; ++i) {
    events.push_back(std::make_unique<TestEvents>(
        driver.transport(i),
        [&requests, i](Transport& transport, ServerCall* call) {
          ++requests[i];
          TestEvents::ReplyAsAsked(transport, call);
        }));
  }
  // The first worker accepts connections for all workers.
  ASSERT_TRUE(events[0]->PollUntil([&] { return requests[0] == 2; }));
  for (int i = 1; i < kWorkers; ++i) {
    EXPECT_TRUE(events[i]->PollUntil([&] { return requests[i] == 2; }));
  }
  for (std::thread& client : clients) client.join();
}

TEST_F(TcpServerTest, ListensOnNamesAndOnTheHostsBestAddress) {
  for (const char* host : {"127.0.0.1", "localhost", ""}) {
    TcpDriver driver(ReadTcpSettings({}), {}, host);
    const auto address = driver.Listen(1);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_THAT(*address, testing::StartsWith(host));
    TestEvents events(driver.transport(0));
    RawConnection connection = RawConnection::To(*address);
    connection.Send(HelloBytes());
  }
}

TEST_F(TcpServerTest, ListenRefusesForeignAddresses) {
  TcpDriver driver(ReadTcpSettings({}), {.netdev = "no-such-device"}, "");
  EXPECT_THAT(std::string(driver.Listen(1).status().message()),
              testing::HasSubstr("no-such-device"));
}

}  // namespace
}  // namespace distbench::protocol
