// Tests how capnp drivers handle peers that misbehave or go away.

#include "distbench/protocol/capnp/capnp_driver.h"

#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "distbench/base/clock.h"
#include "distbench/base/listen_address.h"
#include "distbench/protocol/capnp/message.h"
#include "distbench/protocol/capnp/settings.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream_transport.h"
#include "distbench/protocol/tcp/testing/raw_peer.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

CapnpSettings WithQueue(int64_t bytes) {
  CapnpSettings settings = ReadCapnpSettings({});
  settings.send_queue_bytes = bytes;
  return settings;
}

std::unique_ptr<CapnpDriver> MakeDriver(
    const CapnpSettings& settings = ReadCapnpSettings({})) {
  return std::make_unique<CapnpDriver>(settings, AddressPreference{},
                                       "127.0.0.1");
}

class CapnpDriverTest : public testing::Test {
 protected:
  void Serve(TestEvents::Handler handler = TestEvents::ReplyAsAsked,
             const CapnpSettings& settings = ReadCapnpSettings({})) {
    server_ = std::make_unique<TestServer>(
        [&] {
          auto driver = MakeDriver(settings);
          driver_ = driver.get();
          return driver;
        },
        [this, handler](Transport& transport, ServerCall* call) {
          ++requests_;
          handler(transport, call);
        });
  }

  std::unique_ptr<TestClient> Connect() {
    return std::make_unique<TestClient>(MakeDriver(),
                                        SingleServers({server_->address()}));
  }

  RawConnection ConnectRaw() {
    RawConnection connection = RawConnection::To(server_->address());
    connection.Greet(Greeting::Side::kClient);
    return connection;
  }

  // The server must close a connection that sends this after the greeting, and
  // go on.
  void ExpectRefused(const std::string& bytes) {
    RawConnection connection = ConnectRaw();
    connection.Send(bytes);
    EXPECT_TRUE(connection.PeerCloses());
    EXPECT_EQ(driver_->counters().errors(StreamError::kProtocolViolated),
              ++refused_);
    ClientCall call{.request_bytes = 16};
    EXPECT_EQ(Connect()->Call(call), "");
  }

  CapnpDriver* driver_ = nullptr;
  std::unique_ptr<TestServer> server_;
  std::atomic<int> requests_ = 0;
  int refused_ = 0;
};

TEST_F(CapnpDriverTest, WhatIsNotCapnProtoEndsTheConnection) {
  Serve();
  // Segments that are too many, and one that is too large.
  ExpectRefused(std::string(1000, '\xff'));
  ExpectRefused(std::string(4, '\0') + std::string(4, '\xff') +
                std::string(100, 'x'));
  // A message of one word, a pointer beyond its end.
  ExpectRefused(std::string("\0\0\0\0\1\0\0\0\xfc\xff\0\0\xff\0\0\0", 16));
}

// Reads a message of one segment, whose size in words is at byte 4.
std::string ReceiveMessage(RawConnection& connection) {
  const std::string begin = connection.Receive(8);
  uint32_t words = 0;
  std::memcpy(&words, begin.data() + 4, sizeof(words));
  return begin + connection.Receive(8 * words);
}

// Returns what a client sends first: it asks for the interface, and calls.
std::string FirstBytesOfAClient() {
  RawListener listener;
  absl::Notification received;
  std::string bytes;
  std::thread server([&] {
    RawConnection connection = listener.AcceptWithHello();
    bytes = ReceiveMessage(connection);
    bytes += ReceiveMessage(connection);
    received.Notify();
  });
  TestClient client(MakeDriver(), SingleServers({listener.address()}));
  ClientCall call{.request_bytes = 400};
  EXPECT_TRUE(client.transport().Start(&call));
  EXPECT_TRUE(
      client.events().PollUntil([&] { return received.HasBeenNotified(); }));
  server.join();
  return bytes;
}

// The message is damaged, not its envelope, which Cap'n Proto itself reads.
TEST_F(CapnpDriverTest, DamagedRequestsDoNotStopAServer) {
  Serve();
  const std::string traffic = FirstBytesOfAClient();
  const size_t payload = traffic.find("DDDDDDDD");
  ASSERT_NE(payload, std::string::npos);
  // The pointers to head and payload, and the head.
  constexpr size_t kDamagedBytes = 32;
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = traffic;
    for (int j = 0; j < 3; ++j) {
      damaged[payload - 1 - random() % kDamagedBytes] =
          static_cast<char>(random());
    }
    ConnectRaw().Send(damaged);
  }
  ClientCall call{.request_bytes = 16};
  EXPECT_EQ(Connect()->Call(call), "");
  EXPECT_GT(driver_->counters().errors(StreamError::kMalformedMessage), 0);
}

TEST_F(CapnpDriverTest, AClientThatDoesNotReadIsNotServedWithoutEnd) {
  Serve(TestEvents::ReplyAsAsked, WithQueue(1 << 20));
  constexpr size_t kRequests = 200;
  const auto client = Connect();
  std::vector<ClientCall> calls(kRequests);
  for (ClientCall& call : calls) {
    call.request_bytes = 16;
    call.response_bytes = 1 << 20;
    ASSERT_TRUE(client->transport().Start(&call));
  }
  client->transport().Poll(0, client->events());
  // After many turns of the server's loop:
  constexpr int kOtherRequests = 50;
  const auto other = Connect();
  for (int i = 0; i < kOtherRequests; ++i) {
    ClientCall call{.request_bytes = 16};
    ASSERT_EQ(other->Call(call), "");
  }
  EXPECT_LT(requests_, kOtherRequests + kRequests / 2);
  // Once the client reads, it gets everything.
  EXPECT_TRUE(client->events().PollUntil(
      [&] { return client->events().finished_count() == kRequests; }));
  for (const ClientCall& call : calls) {
    EXPECT_EQ(client->events().error(call), "");
  }
}

TEST_F(CapnpDriverTest, AFullSendQueueIsSaid) {
  RawListener listener;
  std::unique_ptr<RawConnection> connection;
  std::thread server([&] {
    connection = std::make_unique<RawConnection>(listener.AcceptWithHello());
  });
  TestClient client(MakeDriver(WithQueue(1 << 20)),
                    SingleServers({listener.address()}));
  server.join();
  // The server does not read.
  std::vector<ClientCall> calls(1000);
  size_t started = 0;
  for (ClientCall& call : calls) {
    call.request_bytes = 1 << 20;
    if (!client.transport().Start(&call)) break;
    ++started;
    client.transport().Poll(0, client.events());
  }
  EXPECT_LT(started, 100);
  // There is room again once it reads.
  connection->Receive((started - 1) << 20);
  EXPECT_TRUE(client.events().PollUntil(
      [&] { return client.transport().Start(&calls[started]); }));
}

TEST_F(CapnpDriverTest, MessagesThatAreTooLargeFail) {
  Serve();
  const auto client = Connect();
  ClientCall request{.request_bytes = kMaxCapnpMessageBytes + 1};
  EXPECT_THAT(client->Call(request), StartsWith("INVALID_ARGUMENT: a request"));
  ClientCall response{.request_bytes = 16,
                      .response_bytes = kMaxCapnpMessageBytes + 1};
  EXPECT_THAT(client->Call(response),
              StartsWith("INVALID_ARGUMENT: a response"));
  EXPECT_EQ(requests_, 1);
}

TEST_F(CapnpDriverTest, RepliesToAClientThatHasGoneAreDropped) {
  ServerCall* kept = nullptr;
  Serve([&](Transport& transport, ServerCall* call) {
    if (!call->warmup) {
      kept = call;
      return;
    }
    EXPECT_EQ(kept->trace_context, "trace");
    TestEvents::ReplyAsAsked(transport, kept);
    TestEvents::ReplyAsAsked(transport, call);
  });
  {
    const auto client = Connect();
    ClientCall call{.request_bytes = 16, .trace_context = "trace"};
    ASSERT_TRUE(client->transport().Start(&call));
    ASSERT_TRUE(client->events().PollUntil([&] { return requests_ == 1; }));
  }
  const auto other = Connect();
  const auto is_gone = [&] {
    return driver_->counters().errors(StreamError::kClosedByPeer) +
               driver_->counters().errors(StreamError::kSocketFailed) ==
           1;
  };
  ASSERT_TRUE(other->events().PollUntil(is_gone));
  ClientCall last{.warmup = true, .request_bytes = 16};
  EXPECT_EQ(other->Call(last), "");
}

// Hands the connections that it accepts to a server, and can cut them.
class Relay {
 public:
  Relay() : listener_(ListenAt("127.0.0.1:0").value()) {}

  std::string address() const {
    return "127.0.0.1:" + std::to_string(listener_.port);
  }

  // Waits for a connection.
  void Accept(ProtocolDriver& server) {
    FileDescriptor accepted;
    while (!accepted.is_open()) {
      accepted = AcceptConnection(listener_.socket.get());
    }
    last_ = accepted.get();
    static_cast<SocketTransport&>(server.transport(0))
        .Serve(std::move(accepted));
  }

  // Cuts the last connection, which the server has open.
  void Cut() { shutdown(last_, SHUT_RDWR); }

 private:
  const ListeningSocket listener_;
  int last_ = -1;
};

TEST_F(CapnpDriverTest, ALostConnectionIsMadeAnew) {
  Serve();
  Relay relay;
  std::thread first([&] { relay.Accept(*driver_); });
  auto driver = MakeDriver();
  const StreamCounters& counters = driver->counters();
  TestClient client(std::move(driver), SingleServers({relay.address()}));
  first.join();
  ClientCall call{.request_bytes = 16};
  ASSERT_EQ(client.Call(call), "");
  relay.Cut();
  EXPECT_THAT(client.Call(call),
              AllOf(StartsWith("UNAVAILABLE: "), HasSubstr(relay.address()),
                    AnyOf(HasSubstr("closed by the peer"),
                          HasSubstr("the connection broke"))));
  // A call that is started meanwhile waits for the new connection.
  std::thread second([&] { relay.Accept(*driver_); });
  EXPECT_EQ(client.Call(call), "");
  second.join();
  EXPECT_EQ(counters.reconnects, 1);
  EXPECT_EQ(counters.failed_reconnects, 0);
}

// A call may end before there is a connection again.
TEST_F(CapnpDriverTest, CallsThatWaitForAConnectionAreTimeStamped) {
  RawListener listener;
  std::thread server([&] { listener.AcceptWithHello().Close(); });
  TestClient client(MakeDriver(), SingleServers({listener.address()}));
  server.join();
  ClientCall lost{.request_bytes = 16};
  ASSERT_THAT(client.Call(lost), StartsWith("UNAVAILABLE: "));
  // Nobody answers the client's next hello.
  const int64_t before_ns = RealClock().MonotonicNs();
  ClientCall call{.request_bytes = 16, .deadline_ns = before_ns + 20'000'000};
  EXPECT_THAT(client.Call(call), StartsWith("DEADLINE_EXCEEDED: "));
  EXPECT_GE(call.sent_ns, before_ns);
  EXPECT_LT(call.sent_ns, call.deadline_ns);
}

TEST_F(CapnpDriverTest, AServerThatStaysAwayIsNotStormed) {
  Serve();
  const auto client = Connect();
  server_.reset();
  // Calls again whenever a call fails.
  ClientCall call{.request_bytes = 16};
  int failures = 0;
  client->events().on_done = [&](ClientCall*) {
    ++failures;
    ASSERT_TRUE(client->transport().Start(&call));
  };
  ASSERT_TRUE(client->transport().Start(&call));
  const int64_t start_ns = RealClock().MonotonicNs();
  ASSERT_TRUE(client->events().PollUntil([&] { return failures == 6; }));
  // The delays were 1, 2, 4, 8 and 16 ms, and the first call may have found the
  // loss.
  EXPECT_GE(RealClock().MonotonicNs() - start_ns, 31'000'000);
}

// The loops of two transports on one thread must not meet.
TEST_F(CapnpDriverTest, AnEventMayStartACallOfAnotherTransport) {
  Serve();
  const auto one = Connect();
  const auto other = Connect();
  ClientCall first{.request_bytes = 16};
  ClientCall second{.request_bytes = 16};
  ClientCall third{.request_bytes = 16};
  one->events().on_done = [&](ClientCall*) {
    ASSERT_TRUE(other->transport().Start(&second));
    other->transport().CancelCalls();
    ASSERT_TRUE(other->transport().Start(&third));
  };
  EXPECT_EQ(one->Call(first), "");
  EXPECT_TRUE(other->events().PollUntil(
      [&] { return other->events().finished_count() == 2; }));
  EXPECT_THAT(other->events().error(second), StartsWith("CANCELLED: "));
  EXPECT_EQ(other->events().error(third), "");
}

TEST_F(CapnpDriverTest, ShutdownEndsWhatIsInFlight) {
  Serve();
  const auto client = Connect();
  std::vector<ClientCall> calls(50);
  for (ClientCall& call : calls) {
    call.request_bytes = 16;
    ASSERT_TRUE(client->transport().Start(&call));
  }
  client->Shutdown();
  EXPECT_EQ(client->events().finished_count(), calls.size());
}

}  // namespace
}  // namespace distbench
