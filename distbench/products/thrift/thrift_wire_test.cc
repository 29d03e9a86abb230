// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The driver against peers that are described byte by byte.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/products/thrift/message.h"
#include "distbench/products/thrift/thrift_driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/testing/raw_peer.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "distbench/security/nonce.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"

namespace distbench::thrift {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<ThriftDriver> MakeDriver(
    const protocol::TcpSettings& settings = protocol::ReadTcpSettings({})) {
  return std::make_unique<ThriftDriver>(settings, protocol::AddressPreference{},
                                        "127.0.0.1");
}

// A request with the sequence id 7.
std::string Request(int reply_bytes = 16) {
  GenericRequestResponse message;
  message.set_response_payload_size(reply_bytes);
  return ThriftFrame(ThriftType::kCall, kThriftGenericRpc, 7,
                     message.SerializeAsString());
}

// Reads one frame, without its size.
std::string ReceiveFrame(protocol::RawConnection& connection) {
  const std::string size = connection.Receive(kThriftSizeBytes);
  uint32_t bytes = 0;
  EXPECT_TRUE(ThriftReader(size).Read32(bytes));
  return connection.Receive(bytes);
}

int64_t Counter(const protocol::ProtocolDriver& driver,
                const std::string& name) {
  for (const protocol::DriverCounter& counter : driver.Counters()) {
    if (counter.name == name) return counter.value;
  }
  return 0;
}

// ---- Bytes -----------------------------------------------------------------

TEST(ThriftFrameTest, IsWhatTheServiceSays) {
  EXPECT_EQ(ThriftFrame(ThriftType::kCall, "Handshake", 258, "abc"),
            std::string("\0\0\0\x20"
                        "\x80\x01\0\x01"
                        "\0\0\0\x09"
                        "Handshake"
                        "\0\0\x01\x02"
                        "\x0b\0\x01\0\0\0\x03"
                        "abc\0",
                        36));
}

// ---- The server ------------------------------------------------------------

class ThriftServerTest : public testing::Test {
 protected:
  const protocol::TestServer server_{[] { return MakeDriver(); }};
  protocol::RawConnection client_ =
      protocol::RawConnection::To(server_.address());
};

TEST_F(ThriftServerTest, RequestsMayArriveByteByByte) {
  for (const char byte : Request()) client_.Send(std::string(1, byte));
  const std::string reply = ReceiveFrame(client_);
  EXPECT_THAT(reply, StartsWith(std::string("\x80\x01\0\x02", 4)));
  EXPECT_THAT(reply, HasSubstr(std::string("GenericRpc\0\0\0\x07", 14)));
}

TEST_F(ThriftServerTest, UnknownMethodsAreExceptions) {
  client_.Send(ThriftFrame(ThriftType::kCall, "Nonsense", 9, "abc"));
  const std::string answer = ReceiveFrame(client_);
  EXPECT_THAT(answer, StartsWith(std::string("\x80\x01\0\x03", 4)));
  EXPECT_THAT(answer, HasSubstr("there is no such method"));
  // The connection still works.
  client_.Send(Request());
  EXPECT_THAT(ReceiveFrame(client_), HasSubstr("GenericRpc"));
}

TEST_F(ThriftServerTest, MalformedMessagesAreExceptions) {
  for (const auto method : {kThriftGenericRpc, kThriftHandshake}) {
    client_.Send(ThriftFrame(ThriftType::kCall, method, 9, "\x07\xff"));
    EXPECT_THAT(ReceiveFrame(client_),
                StartsWith(std::string("\x80\x01\0\x03", 4)));
  }
}

TEST_F(ThriftServerTest, OtherProtocolsEndTheConnection) {
  client_.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(client_.PeerCloses());
}

TEST_F(ThriftServerTest, DamagedFramesEndTheConnection) {
  std::string no_end = Request();
  no_end.back() = 1;
  std::string beyond = Request();
  beyond[kThriftSizeBytes + 8 + kThriftGenericRpc.size() + 4 + 6] = 100;
  const std::string damaged[] = {
      no_end,
      beyond,
      ThriftFrame(ThriftType::kReply, kThriftGenericRpc, 7, "\x08\x01"),
      std::string("\xff\xff\xff\xff\x80\x01\0\x01", 8),  // 4 GiB
      std::string("\0\0\0\x05\x80\x01\0\x01\0", 9),      // too short
  };
  for (const std::string& bytes : damaged) {
    protocol::RawConnection client =
        protocol::RawConnection::To(server_.address());
    client.Send(bytes);
    EXPECT_TRUE(client.PeerCloses());
  }
}

// The requests of a client that reads no replies stay in its socket.
TEST(ThriftBackPressureTest, AClientThatDoesNotReadIsNotServedWithoutEnd) {
  protocol::TcpSettings settings = protocol::ReadTcpSettings({});
  settings.send_queue_bytes = 1 << 20;
  std::atomic<int> requests = 0;
  const protocol::TestServer server(
      [&] { return MakeDriver(settings); },
      [&](protocol::Transport& transport, protocol::ServerCall* call) {
        ++requests;
        protocol::TestEvents::ReplyAsAsked(transport, call);
      });
  constexpr int kRequests = 200;
  constexpr int kReplyBytes = 1 << 20;
  protocol::RawConnection deaf = protocol::RawConnection::To(server.address());
  std::thread sender([&] {
    for (int i = 0; i < kRequests; ++i) deaf.Send(Request(kReplyBytes));
  });
  // After many turns of the server's loop:
  constexpr int kOtherRequests = 50;
  protocol::RawConnection other = protocol::RawConnection::To(server.address());
  for (int i = 0; i < kOtherRequests; ++i) {
    other.Send(Request());
    EXPECT_NE(ReceiveFrame(other), "");
  }
  EXPECT_LT(requests, kOtherRequests + kRequests / 2);
  // Once the client reads, it gets everything.
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_GT(ReceiveFrame(deaf).size(), kReplyBytes);
  }
  sender.join();
  EXPECT_EQ(requests, kRequests + kOtherRequests);
}

TEST(ThriftStrangersTest, ForOneTooManyTheQuietestIsGivenUp) {
  protocol::TcpSettings settings = protocol::ReadTcpSettings({});
  settings.strangers.connections = 2;
  const protocol::TestServer server([&] { return MakeDriver(settings); });
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  const auto call = [](protocol::RawConnection& stranger) {
    stranger.Send(Request());
    EXPECT_NE(ReceiveFrame(stranger), "");
  };
  protocol::RawConnection first = protocol::RawConnection::To(server.address());
  call(first);
  protocol::RawConnection second =
      protocol::RawConnection::To(server.address());
  call(second);
  call(first);
  protocol::RawConnection third = protocol::RawConnection::To(server.address());
  call(third);
  EXPECT_TRUE(second.PeerCloses());
  call(first);
  // Clients of the test are no strangers, however silent.
  protocol::ClientCall own{.request_bytes = 16};
  EXPECT_EQ(client.Call(own), "");
  EXPECT_EQ(Counter(client.driver(), "reconnects"), 0);
}

// ---- The client ------------------------------------------------------------

// A client of one raw server.
class ThriftClientTest : public testing::Test {
 protected:
  void Connect(
      const protocol::TcpSettings& settings = protocol::ReadTcpSettings({})) {
    std::thread server([this] { AcceptWithHandshake(); });
    client_ = std::make_unique<protocol::TestClient>(
        MakeDriver(settings), protocol::SingleServers({listener_.address()}));
    server.join();
  }

  void AcceptWithHandshake() {
    connection_ = std::make_unique<protocol::RawConnection>(listener_.Accept());
    const std::string call = ReceiveFrame(*connection_);
    constexpr size_t kBeforeBytes = 4 + 4 + 9 + 4 + 7;
    ASSERT_GT(call.size(), kBeforeBytes);
    const auto answer = protocol::AnswerHandshake(
        "", call.substr(kBeforeBytes, call.size() - kBeforeBytes - 1));
    ASSERT_TRUE(answer.ok());
    connection_->Send(
        ThriftFrame(ThriftType::kReply, kThriftHandshake, 0, *answer));
  }

  // Starts a call, and takes its request from the connection. Returns its
  // sequence id.
  uint32_t Start(protocol::ClientCall& call) {
    call.request_bytes = 16;
    EXPECT_TRUE(client_->transport().Start(&call));
    client_->transport().Poll(0, client_->events());
    const std::string frame = ReceiveFrame(*connection_);
    ThriftReader request(frame);
    absl::string_view before;
    uint32_t sequence_id = 0;
    EXPECT_TRUE(request.ReadBytes(4 + 4 + kThriftGenericRpc.size(), before));
    EXPECT_TRUE(request.Read32(sequence_id));
    return sequence_id;
  }

  // Returns the error with which the call ends.
  std::string ErrorOf(const protocol::ClientCall& call) {
    protocol::TestEvents& events = client_->events();
    EXPECT_TRUE(events.PollUntil([&] { return events.Finished(call); }));
    return events.error(call);
  }

  void Reply(uint32_t sequence_id) {
    connection_->Send(ThriftFrame(ThriftType::kReply, kThriftGenericRpc,
                                  sequence_id, "\x50\x03"));
  }

  protocol::RawListener listener_;
  std::unique_ptr<protocol::RawConnection> connection_;
  std::unique_ptr<protocol::TestClient> client_;
};

TEST_F(ThriftClientTest, RepliesAreMatchedBySequenceId) {
  Connect();
  protocol::ClientCall first;
  protocol::ClientCall second;
  const uint32_t first_id = Start(first);
  const uint32_t second_id = Start(second);
  Reply(second_id);
  EXPECT_EQ(ErrorOf(second), "");
  EXPECT_FALSE(client_->events().Finished(first));
  Reply(first_id);
  EXPECT_EQ(ErrorOf(first), "");
  EXPECT_EQ(first.responding_instance, 3);
}

TEST_F(ThriftClientTest, ExceptionsFailTheirCallOnly) {
  Connect();
  protocol::ClientCall call;
  const uint32_t id = Start(call);
  connection_->Send(ThriftExceptionFrame(
      kThriftGenericRpc, id, ThriftFault::kProtocolError, "not today"));
  EXPECT_EQ(ErrorOf(call),
            absl::StrCat("INTERNAL: ", listener_.address(),
                         " has answered with an exception: not today"));
  EXPECT_EQ(Counter(client_->driver(), "exceptions"), 1);
  protocol::ClientCall next;
  Reply(Start(next));
  EXPECT_EQ(ErrorOf(next), "");
}

TEST_F(ThriftClientTest, LateRepliesAreCounted) {
  Connect();
  protocol::ClientCall late{.deadline_ns =
                                base::RealClock().MonotonicNs() + 20'000'000};
  const uint32_t late_id = Start(late);
  EXPECT_THAT(ErrorOf(late), StartsWith("DEADLINE_EXCEEDED: "));
  Reply(late_id);
  protocol::ClientCall call;
  Reply(Start(call));
  EXPECT_EQ(ErrorOf(call), "");
  EXPECT_EQ(Counter(client_->driver(), "late_replies"), 1);
}

// The first reply starts a call whose id the server can tell in advance.
TEST_F(ThriftClientTest, RepliesToRequestsThatWereNotSentEndTheConnection) {
  Connect();
  protocol::ClientCall first;
  protocol::ClientCall early{.request_bytes = 16};
  early.sent_ns = 1;  // of an earlier use
  client_->events().on_done = [&](protocol::ClientCall* call) {
    if (call != &first) return;
    ASSERT_TRUE(client_->transport().Start(&early));
  };
  const uint32_t id = Start(first);
  connection_->Send(
      ThriftFrame(ThriftType::kReply, kThriftGenericRpc, id, "\x50\x03") +
      ThriftFrame(ThriftType::kReply, kThriftGenericRpc, id + 1, "\x50\x03"));
  EXPECT_EQ(ErrorOf(first), "");
  EXPECT_THAT(ErrorOf(early), HasSubstr("never made"));
  EXPECT_GT(early.sent_ns, 1);
}

TEST_F(ThriftClientTest, RepliesToNoCallEndTheConnection) {
  Connect();
  protocol::ClientCall call;
  Reply(Start(call) + 1);
  EXPECT_THAT(ErrorOf(call), HasSubstr("a reply to a call that was never"));
}

// The handshake comes before the call that has waited.
TEST_F(ThriftClientTest, ReconnectsWithAHandshake) {
  Connect();
  protocol::ClientCall lost;
  Start(lost);
  connection_->Close();
  EXPECT_THAT(ErrorOf(lost), StartsWith("UNAVAILABLE: "));
  std::thread server([this] {
    AcceptWithHandshake();
    ReceiveFrame(*connection_);
    Reply(1);
  });
  protocol::ClientCall call{.request_bytes = 16};
  EXPECT_EQ(client_->Call(call), "");
  server.join();
  EXPECT_EQ(Counter(client_->driver(), "reconnects"), 1);
}

// A server whose replies break each connection has not shown that it works.
TEST_F(ThriftClientTest, MalformedRepliesDoNotLeadToAStorm) {
  Connect();
  constexpr int kFailures = 6;
  std::thread server([this] {
    for (uint32_t id = 0; id < kFailures; ++id) {
      if (id > 0) AcceptWithHandshake();
      ReceiveFrame(*connection_);
      connection_->Send(
          ThriftFrame(ThriftType::kReply, kThriftGenericRpc, id, "\x07\xff"));
      EXPECT_TRUE(connection_->PeerCloses());
    }
  });
  const int64_t start_ns = base::RealClock().MonotonicNs();
  for (int i = 0; i < kFailures; ++i) {
    protocol::ClientCall call{.request_bytes = 16};
    EXPECT_THAT(client_->Call(call), HasSubstr("a malformed message"));
  }
  server.join();
  // The delays were 1, 2, 4, 8 and 16 ms.
  EXPECT_GE(base::RealClock().MonotonicNs() - start_ns, 31'000'000);
}

TEST_F(ThriftClientTest, AFullSendQueueIsSaid) {
  protocol::TcpSettings settings = protocol::ReadTcpSettings({});
  settings.send_queue_bytes = 1 << 20;
  Connect(settings);
  // The server does not read.
  std::vector<protocol::ClientCall> calls(1000);
  size_t started = 0;
  for (protocol::ClientCall& call : calls) {
    call.request_bytes = 1 << 20;
    if (!client_->transport().Start(&call)) break;
    ++started;
    client_->transport().Poll(0, client_->events());
  }
  EXPECT_LT(started, calls.size());
  client_->transport().CancelCalls();
  EXPECT_TRUE(client_->events().PollUntil(
      [&] { return client_->events().finished_count() == started; }));
}

// Other servers are named when connecting, with the reason.
TEST(ThriftGreetingTest, ServersThatAreNotOursAreRefused) {
  const std::string unproven =
      protocol::HandshakeRequestWith(security::DrawNonce());
  const struct {
    std::string answer;
    std::string problem;
  } cases[] = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak Thrift"},
      {ThriftExceptionFrame(kThriftHandshake, 0, ThriftFault::kUnknownMethod,
                            "no"),
       "no instance of distbench"},
      {ThriftFrame(ThriftType::kReply, kThriftHandshake, 0, unproven),
       "does not know this test's nonce"},
      {ThriftFrame(ThriftType::kReply, kThriftHandshake, 5, unproven),
       "a call that was never made"},
      {std::string("\x7f\0\0\0\x80\x01\0\x02", 8), "too large"},
  };
  for (const auto& [answer, problem] : cases) {
    // clang before 16 captures no structured binding.
    const std::string& sent = answer;
    protocol::RawListener listener;
    std::thread server([&] {
      protocol::RawConnection connection = listener.Accept();
      ReceiveFrame(connection);
      connection.Send(sent);
      EXPECT_TRUE(connection.PeerCloses());
    });
    const auto driver = MakeDriver();
    ASSERT_TRUE(driver->Listen(1).ok());
    EXPECT_THAT(driver
                    ->Connect(protocol::SingleServers({listener.address()}),
                              absl::Now() + absl::Seconds(20))
                    .message(),
                AllOf(HasSubstr(listener.address()), HasSubstr(problem)));
    server.join();
  }
}

}  // namespace
}  // namespace distbench::thrift
