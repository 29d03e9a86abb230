// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests which bytes a tcp client sends and when, and how it handles servers
// that misbehave or go away. For connecting, see tcp_driver_test.cc.

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/tcp_driver.h"
#include "distbench/protocol/tcp/testing/raw_peer.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A client of one raw server.
class TcpClientTest : public testing::Test {
 protected:
  // Connects, with as many connections as the settings say.
  void Connect(const TcpSettings& settings = ReadTcpSettings({})) {
    auto driver =
        std::make_unique<TcpDriver>(settings, AddressPreference{}, "127.0.0.1");
    driver_ = driver.get();
    std::thread server([&] {
      for (int i = 0; i < settings.connections; ++i) {
        connections_.push_back(listener_.AcceptWithHello());
      }
    });
    client_ = std::make_unique<TestClient>(
        std::move(driver), SingleServers({listener_.address()}));
    server.join();
  }

  Transport& transport() { return client_->transport(); }
  TestEvents& events() { return client_->events(); }
  const StreamCounters& counters() { return driver_->counters(); }
  void Poll() { transport().Poll(0, events()); }

  // Starts a call, and reads its request from the connection.
  FrameHeader Start(ClientCall& call) {
    call.request_bytes = 16;
    EXPECT_TRUE(transport().Start(&call));
    Poll();
    return ReceiveRequest();
  }
  FrameHeader ReceiveRequest() {
    const std::string header = connections_[0].Receive(kFrameHeaderBytes);
    EXPECT_EQ(header.size(), kFrameHeaderBytes);
    const FrameHeader frame = DecodeFrameHeader(header.data());
    connections_[0].Receive(frame.message_bytes);
    return frame;
  }

  // Returns the error with which the call ends.
  std::string ErrorOf(const ClientCall& call) {
    EXPECT_TRUE(events().PollUntil([&] { return events().Finished(call); }));
    return events().error(call);
  }

  // Answers a call with these bytes, and returns the error with which it ends.
  std::string ErrorAfter(const std::function<std::string(uint64_t id)>& reply) {
    ClientCall call;
    const FrameHeader request = Start(call);
    connections_[0].Send(reply(request.call_id));
    return ErrorOf(call);
  }

  RawListener listener_;
  std::vector<RawConnection> connections_;
  TcpDriver* driver_ = nullptr;
  std::unique_ptr<TestClient> client_;
};

TEST_F(TcpClientTest, RequestsOfOneTurnShareAWriteAndAStamp) {
  Connect();
  ClientCall calls[10];
  for (ClientCall& call : calls) {
    call.request_bytes = 16;
    ASSERT_TRUE(transport().Start(&call));
  }
  EXPECT_EQ(connections_[0].ReceiveAvailable(), "");
  const int64_t before_ns = base::NowNs();
  Poll();
  EXPECT_EQ(connections_[0].Receive(320).size(), 320);
  for (const ClientCall& call : calls) {
    EXPECT_EQ(call.sent_ns, calls[0].sent_ns);
    EXPECT_GE(call.sent_ns, before_ns);
  }
}

TEST_F(TcpClientTest, BatchesAreBounded) {
  TcpSettings settings = ReadTcpSettings({});
  settings.client_max_batch = 3;
  Connect(settings);
  ClientCall calls[5];
  for (ClientCall& call : calls) {
    call.request_bytes = 16;
    ASSERT_TRUE(transport().Start(&call));
  }
  EXPECT_EQ(connections_[0].Receive(96).size(), 96);
  EXPECT_EQ(connections_[0].ReceiveAvailable(), "");
  EXPECT_GT(calls[2].sent_ns, 0);
  EXPECT_EQ(calls[3].sent_ns, 0);
}

TEST_F(TcpClientTest, ConnectionsTakeTurns) {
  TcpSettings settings = ReadTcpSettings({});
  settings.connections = 4;
  Connect(settings);
  ClientCall calls[8];
  for (ClientCall& call : calls) {
    call.request_bytes = 16;
    ASSERT_TRUE(transport().Start(&call));
  }
  Poll();
  for (RawConnection& connection : connections_) {
    EXPECT_EQ(connection.Receive(64).size(), 64);
  }
}

TEST_F(TcpClientTest, AFullSendQueueIsSaid) {
  TcpSettings settings = ReadTcpSettings({});
  settings.send_queue_bytes = 1 << 20;
  Connect(settings);
  // The server does not read.
  std::vector<ClientCall> calls(1000);
  size_t started = 0;
  for (ClientCall& call : calls) {
    call.request_bytes = 1 << 20;
    if (!transport().Start(&call)) break;
    ++started;
    Poll();
  }
  EXPECT_LT(started, 100);
  // There is room again once it reads.
  connections_[0].Receive((started - 1) << 20);
  EXPECT_TRUE(
      events().PollUntil([&] { return transport().Start(&calls[started]); }));
}

TEST_F(TcpClientTest, TracesThatDoNotFitFail) {
  Connect();
  const std::string trace(kMaxHeadBytes, 'T');
  ClientCall call{.request_bytes = 16, .trace_context = trace};
  EXPECT_THAT(client_->Call(call), StartsWith("INVALID_ARGUMENT: "));
}

// Callers use a call several times.
TEST_F(TcpClientTest, CallsThatAreNotSentHaveNoSizesOfEarlierOnes) {
  Connect();
  const std::string trace(kMaxHeadBytes, 'T');
  ClientCall call{.request_bytes = 16, .trace_context = trace};
  call.sent_bytes = call.received_bytes = 1000;
  EXPECT_THAT(client_->Call(call), StartsWith("INVALID_ARGUMENT: "));
  EXPECT_EQ(call.sent_bytes, 0);
  EXPECT_EQ(call.received_bytes, 0);
  client_->Shutdown();
  call.trace_context = {};
  call.sent_bytes = call.received_bytes = 1000;
  EXPECT_THAT(client_->Call(call), StartsWith("CANCELLED: "));
  EXPECT_EQ(call.sent_bytes, 0);
  EXPECT_EQ(call.received_bytes, 0);
}

TEST_F(TcpClientTest, CallsFailWithTheCause) {
  Connect();
  ClientCall first;
  Start(first);
  ClientCall second;
  const FrameHeader request = Start(second);
  connections_[0].Send(FrameBytes({.message_bytes = 0xffffffff,
                                   .kind = FrameKind::kReply,
                                   .call_id = request.call_id},
                                  ""));
  for (const ClientCall* call : {&first, &second}) {
    EXPECT_THAT(ErrorOf(*call),
                AllOf(StartsWith("UNAVAILABLE: "), HasSubstr("oversized"),
                      HasSubstr(listener_.address())));
  }
  EXPECT_EQ(counters().errors(StreamError::kOversizedMessage), 1);
  EXPECT_TRUE(connections_[0].PeerCloses());
}

TEST_F(TcpClientTest, RepliesToUnknownCallsCloseTheConnection) {
  Connect();
  EXPECT_THAT(ErrorAfter([](uint64_t id) {
                return FrameBytes(
                    {.kind = FrameKind::kReply, .call_id = id + 1}, "");
              }),
              HasSubstr("never made"));
  EXPECT_EQ(counters().errors(StreamError::kUnknownCall), 1);
}

// The first reply starts a call whose id the server can tell in advance.
TEST_F(TcpClientTest, RepliesToRequestsThatWereNotSentCloseTheConnection) {
  Connect();
  ClientCall first;
  ClientCall early{.request_bytes = 16};
  early.sent_ns = 1;  // of an earlier use
  events().on_done = [&](ClientCall* call) {
    if (call != &first) return;
    ASSERT_TRUE(transport().Start(&early));
  };
  constexpr uint64_t kNextUse = uint64_t{1} << 32;
  const uint64_t id = Start(first).call_id;
  connections_[0].Send(
      FrameBytes({.kind = FrameKind::kReply, .call_id = id}, "") +
      FrameBytes({.kind = FrameKind::kReply, .call_id = id + kNextUse}, ""));
  EXPECT_EQ(ErrorOf(first), "");
  EXPECT_THAT(ErrorOf(early), HasSubstr("never made"));
  EXPECT_GT(early.sent_ns, 1);
  EXPECT_EQ(counters().errors(StreamError::kUnknownCall), 1);
}

TEST_F(TcpClientTest, MalformedRepliesCloseTheConnection) {
  Connect();
  EXPECT_THAT(ErrorAfter([](uint64_t id) {
                return FrameBytes({.message_bytes = 1,
                                   .head_bytes = 1,
                                   .kind = FrameKind::kReply,
                                   .call_id = id},
                                  "\xff");
              }),
              HasSubstr("malformed message"));
  EXPECT_EQ(counters().errors(StreamError::kMalformedMessage), 1);
}

TcpSettings MeasuringTimeParts() {
  TcpSettings settings = ReadTcpSettings({});
  settings.measures_time_parts = true;
  return settings;
}

TEST_F(TcpClientTest, RepliesWithoutTheirTimesCloseTheConnection) {
  Connect(MeasuringTimeParts());
  EXPECT_THAT(ErrorAfter([](uint64_t id) {
                return FrameBytes({.kind = FrameKind::kReply, .call_id = id},
                                  "");
              }),
              StartsWith("UNAVAILABLE: "));
  EXPECT_EQ(counters().errors(StreamError::kWrongFrameKind), 1);
}

TEST_F(TcpClientTest, RepliesWithHalfOfTheirTimesCloseTheConnection) {
  Connect(MeasuringTimeParts());
  EXPECT_THAT(ErrorAfter([](uint64_t id) {
                return FrameBytes({.message_bytes = 15,
                                   .head_bytes = 15,
                                   .kind = FrameKind::kTimedReply,
                                   .call_id = id},
                                  std::string(15, '\0'));
              }),
              HasSubstr("malformed message"));
  EXPECT_EQ(counters().errors(StreamError::kMalformedMessage), 1);
}

TEST_F(TcpClientTest, UnexpectedTimesCloseTheConnection) {
  Connect();
  EXPECT_THAT(ErrorAfter([](uint64_t id) {
                return FrameBytes({.message_bytes = 16,
                                   .head_bytes = 16,
                                   .kind = FrameKind::kTimedReply,
                                   .call_id = id},
                                  std::string(16, '\0'));
              }),
              StartsWith("UNAVAILABLE: "));
  EXPECT_EQ(counters().errors(StreamError::kWrongFrameKind), 1);
}

TEST_F(TcpClientTest, ALostConnectionIsMadeAnew) {
  Connect();
  ClientCall call;
  Start(call);
  connections_[0].Close();
  EXPECT_THAT(ErrorOf(call), AllOf(StartsWith("UNAVAILABLE: "),
                                   HasSubstr("closed by the peer")));
  EXPECT_EQ(counters().errors(StreamError::kClosedByPeer), 1);
  // A call that is started meanwhile waits for the new connection.
  ClientCall next{.request_bytes = 16};
  ASSERT_TRUE(transport().Start(&next));
  std::thread server([&] {
    connections_[0] = listener_.AcceptWithHello();
    const FrameHeader request = ReceiveRequest();
    connections_[0].Send(FrameBytes(
        {.kind = FrameKind::kReply, .call_id = request.call_id}, ""));
  });
  EXPECT_EQ(ErrorOf(next), "");
  server.join();
  EXPECT_EQ(counters().reconnects, 1);
  EXPECT_EQ(counters().failed_reconnects, 0);
}

TEST_F(TcpClientTest, AServerThatStaysAwayIsNotStormed) {
  Connect();
  listener_.Close();
  connections_[0].Close();
  // Calls again whenever a call fails.
  ClientCall call{.request_bytes = 16};
  int failures = 0;
  events().on_done = [&](ClientCall*) {
    ++failures;
    ASSERT_TRUE(transport().Start(&call));
  };
  ASSERT_TRUE(transport().Start(&call));
  const int64_t start_ns = base::NowNs();
  ASSERT_TRUE(events().PollUntil([&] { return failures == 7; }));
  // The delays were 1, 2, 4, 8, 16 and 32 ms.
  EXPECT_GE(base::NowNs() - start_ns, 63'000'000);
  EXPECT_EQ(counters().reconnects, 6);
  EXPECT_EQ(counters().failed_reconnects, 6);
  EXPECT_THAT(events().error(call), HasSubstr("cannot connect"));
}

TEST_F(TcpClientTest, AnIdleClientDoesNotReconnect) {
  Connect();
  connections_[0].Close();
  const int64_t until_ns = base::NowNs() + 5'000'000;
  while (base::NowNs() < until_ns) transport().Poll(until_ns, events());
  EXPECT_EQ(counters().errors(StreamError::kClosedByPeer), 0);
  EXPECT_EQ(counters().reconnects, 0);
}

TEST_F(TcpClientTest, ShutdownEndsWhatIsInFlight) {
  Connect();
  std::vector<ClientCall> calls(50);
  for (ClientCall& call : calls) {
    call.request_bytes = 16;
    ASSERT_TRUE(transport().Start(&call));
  }
  client_->Shutdown();
  EXPECT_EQ(events().finished_count(), calls.size());
  // Calls that are started nevertheless end, too.
  ClientCall late{.request_bytes = 16};
  EXPECT_THAT(client_->Call(late), StartsWith("CANCELLED: "));
}

TEST_F(TcpClientTest, DestructionNeedsNoShutdown) {
  Connect();
  {
    ClientCall call{.request_bytes = 16};
    ASSERT_TRUE(transport().Start(&call));
  }
  // The call is gone and must not be touched.
  client_.reset();
}

}  // namespace
}  // namespace distbench::protocol
