// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/server_link.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/base/object_pool.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/libfabric/endpoint.h"
#include "distbench/products/libfabric/fabric.h"
#include "distbench/products/libfabric/link.h"
#include "distbench/products/libfabric/settings.h"
#include "distbench/products/libfabric/wire.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/greeting.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::libfabric {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kNonce[] = "nonce";
constexpr int64_t kPatienceNs = 20'000'000'000;

// What has arrived at an endpoint.
class Arrived final : public Endpoint::Events {
 public:
  void OnMessage(absl::string_view message, int64_t) override {
    messages.emplace_back(message);
  }
  void OnSent(uint64_t, int) override {}

  std::vector<std::string> messages;
};

class Requests final : public protocol::TransportEvents {
 public:
  void OnDone(protocol::ClientCall*) override {}
  void OnRequest(protocol::ServerCall* call) override { calls.push_back(call); }

  std::vector<protocol::ServerCall*> calls;
};

std::string RequestFrame() {
  const payload::RequestHeader header;
  const payload::MessageLayout layout =
      payload::LayOutMessage(header, /*target_bytes=*/16);
  std::string frame(protocol::kFrameHeaderBytes + layout.total_bytes(), 'D');
  protocol::EncodeFrameHeader(
      {.message_bytes = static_cast<uint32_t>(layout.total_bytes()),
       .head_bytes = static_cast<uint32_t>(layout.head_bytes),
       .kind = protocol::FrameKind::kRequest},
      frame.data());
  payload::WriteHead(header, layout,
                     frame.data() + protocol::kFrameHeaderBytes);
  return frame;
}

// A server's end of a link whose client is this test.
class ServerLinkTest : public testing::Test {
 protected:
  void SetUp() override {
    link_ = std::make_unique<ServerLink>(
        context_,
        Introduction{.link = 7,
                     .receive_bytes = kMinReceiveBufferBytes,
                     .address = client_endpoint_->address(),
                     .greeting = greeting_.TakeOutput()},
        requests_, greetings_);
    EXPECT_EQ(greetings_, 1);
    const std::string welcome = AwaitMessage();
    Introduction server;
    ASSERT_TRUE(DecodeIntroduction(
        absl::string_view(welcome).substr(kMessageHeaderBytes), server));
    ASSERT_EQ(greeting_.Receive(server.greeting), protocol::StreamError::kNone);
    Deliver(MessageKind::kProof, greeting_.TakeOutput());
    EXPECT_EQ(greetings_, 0);
  }

  // The client's message after its hello and `sequence` - 1 others; by default
  // after those that have been delivered like that.
  void Deliver(MessageKind kind, absl::string_view content) {
    Deliver(kind, content, next_sequence_++, &events_);
  }
  void Deliver(MessageKind kind, absl::string_view content, uint32_t sequence,
               protocol::TransportEvents* events) {
    link_->Deliver({.kind = kind, .sequence = sequence}, content, base::NowNs(),
                   events);
  }

  void Settle() {
    for (Link* link : std::exchange(context_.to_flush, {})) link->Settle();
  }

  int64_t errors(protocol::StreamError error) const {
    return counters_.errors(error);
  }

  // Returns the first message that arrives at the client.
  std::string AwaitMessage() {
    const int64_t end_ns = base::NowNs() + kPatienceNs;
    Arrived at_server;
    Arrived at_client;
    while (at_client.messages.empty() && base::NowNs() < end_ns) {
      Settle();
      context_.endpoint->Read(at_server);
      client_endpoint_->Read(at_client);
    }
    if (!at_client.messages.empty()) return at_client.messages.front();
    ADD_FAILURE() << "no welcome in time";
    return std::string(kMessageHeaderBytes, '\0');
  }

  // In this order, because later ones use earlier ones.
  const LibfabricSettings settings_ = ReadLibfabricSettings({});
  const std::unique_ptr<Fabric> fabric_ =
      Fabric::Open(settings_.provider, settings_.endpoint_type(), "127.0.0.1")
          .value();
  const std::unique_ptr<Endpoint> client_endpoint_ =
      Endpoint::Open(*fabric_, settings_).value();
  LibfabricCounters counters_;
  LinkContext context_{.settings = settings_,
                       .test_nonce = kNonce,
                       .worker = 0,
                       .counters = counters_,
                       .endpoint = Endpoint::Open(*fabric_, settings_).value()};
  base::ObjectPool<LibfabricRequest> requests_;
  size_t greetings_ = 0;
  Requests events_;
  std::unique_ptr<ServerLink> link_;

  protocol::Greeting greeting_{protocol::Greeting::Side::kClient, kNonce};
  uint32_t next_sequence_ = 1;
};

TEST_F(ServerLinkTest, AMessageIsHeldUntilThoseBeforeItHaveArrived) {
  Deliver(MessageKind::kFrames, RequestFrame(), 3, &events_);
  EXPECT_THAT(events_.calls, IsEmpty());
  Deliver(MessageKind::kFrames, RequestFrame());
  EXPECT_THAT(events_.calls, SizeIs(2));
}

TEST_F(ServerLinkTest, NothingIsDeliveredAfterAnError) {
  Deliver(MessageKind::kFrames, RequestFrame(), 3, &events_);
  Deliver(MessageKind::kFrames, std::string(64, '\xff'));
  // In the same read, before the link ends.
  Deliver(MessageKind::kFrames, RequestFrame(), 3, &events_);
  Deliver(MessageKind::kFrames, RequestFrame(), 4, &events_);
  EXPECT_THAT(events_.calls, IsEmpty());
  Settle();
  EXPECT_TRUE(link_->is_dead());
  EXPECT_EQ(errors(protocol::StreamError::kWrongFrameKind), 1);
}

// The client would wait for seconds until it asks for a sign of life.
TEST_F(ServerLinkTest, ALinkThatBreaksSaysGoodbye) {
  Deliver(MessageKind::kFrames, std::string(64, '\xff'));
  const MessageHeader header = DecodeMessageHeader(AwaitMessage().data());
  EXPECT_EQ(header.kind, MessageKind::kGoodbye);
  EXPECT_EQ(header.link, 7u);
  EXPECT_EQ(header.sequence, 1u);  // after the welcome
  EXPECT_TRUE(link_->is_dead());
}

// While the driver connects, welcomes are delivered, and no requests can be.
TEST_F(ServerLinkTest, AWelcomeToAServerEndsTheLink) {
  Deliver(MessageKind::kFrames, RequestFrame(), 3, &events_);
  Deliver(MessageKind::kWelcome, "", 2, nullptr);
  EXPECT_THAT(events_.calls, IsEmpty());
  Settle();
  EXPECT_TRUE(link_->is_dead());
  EXPECT_EQ(errors(protocol::StreamError::kProtocolViolated), 1);
}

}  // namespace
}  // namespace distbench::libfabric
