// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/client_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/http2/http2_connection.h"
#include "distbench/products/http2/session.h"
#include "distbench/products/http2/settings.h"
#include "distbench/products/http2/testing/raw_frames.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::http2 {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Http2Limits kLimits = {.stream_window_bytes = 1 << 20,
                                 .connection_window_bytes = 1 << 20,
                                 .max_concurrent_streams = 100,
                                 .kept_request_bytes = 1 << 20};

Http2Settings UsualSettings() {
  Http2Settings settings;
  settings.client = settings.server = kLimits;
  settings.send_queue_bytes = 1 << 20;
  return settings;
}

// The server's end of a connection, which answers each request at once.
class Answering final : public Http2Session::Handler {
 public:
  explicit Answering(base::FileDescriptor socket) : stream_(std::move(socket)) {
    session_.set_handler(*this);
  }

  // Reads what has arrived, and writes the answers.
  void Serve() {
    std::string buffer(1 << 16, '\0');
    const ssize_t size = stream_.Receive(buffer.data(), buffer.size());
    ASSERT_GT(size, 0);
    ASSERT_TRUE(session_.Receive(absl::string_view(buffer).substr(0, size)));
    ASSERT_EQ(session_.Write(stream_), protocol::SendQueue::Outcome::kEmpty);
  }

  Http2Exchange& OnOpened() override { return exchanges_.emplace_back(); }
  void OnReceived(Http2Exchange& exchange) override {
    exchange.output.Fill(payload::ResponseHeader(), 100);
    session_.SendResponse(exchange);
  }
  void OnClosed(Http2Exchange&, absl::string_view) override {}

 private:
  std::deque<Http2Exchange> exchanges_;
  protocol::Stream stream_;
  Http2Session session_{Http2Session::Side::kServer, kLimits};
};

// So many frames of 14 bytes on stream 1, each of which promises a stream of
// the server's, from this one on.
std::string PushPromises(int count, uint32_t first_stream) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    bytes += RawFrame(kPushPromiseFrame, kEndHeaders, /*stream=*/1,
                      BigEndian(first_stream + 2 * i) + kRootPath);
  }
  return bytes;
}

// The client resets each stream, and the server does not read.
TEST(Http2ClientSessionTest, AServerCannotFillTheMemoryOfAClient) {
  constexpr int kTogether = 1000;
  constexpr int64_t kMostBytes = 32 << 20;
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const base::FileDescriptor server(ends[0]);
  protocol::Stream stream((base::FileDescriptor(ends[1])));
  Http2Session client(Http2Session::Side::kClient, kLimits, "server");
  Answering unused((base::FileDescriptor()));
  client.set_handler(unused);
  Http2Exchange exchange;
  exchange.output.Fill(payload::RequestHeader(), 100);
  ASSERT_TRUE(client.SendRequest(exchange, kGenericRpcMethod,
                                 Http2Session::kNoTimeout));
  ASSERT_EQ(client.Write(stream), protocol::SendQueue::Outcome::kEmpty);
  // The server's settings; it does not acknowledge those of the client.
  ASSERT_TRUE(
      client.Receive(RawFrame(kSettingsFrame, /*flags=*/0, /*stream=*/0, "")));
  uint32_t next_stream = 2;
  bool goes_on = true;
  while (goes_on && client.waiting_frame_bytes() < kMostBytes) {
    goes_on = client.Receive(PushPromises(kTogether, next_stream));
    next_stream += 2 * kTogether;
  }
  EXPECT_FALSE(goes_on);
  EXPECT_GT(next_stream, 100 * kTogether) << "the client ended it by itself";
}

class Ended final : public protocol::TransportEvents {
 public:
  void OnDone(protocol::ClientCall* call) override {
    errors.emplace_back(call->error);
  }
  void OnRequest(protocol::ServerCall*) override {}

  std::vector<std::string> errors;  // of the calls that have ended
};

TEST(Http2ClientConnectionTest, TheLastStreamIdEndsNoCall) {
  const Http2Settings settings = UsualSettings();
  const protocol::ConnectionSecurity security;
  Http2Counters counters;
  Http2Context context(settings, security, counters);
  ASSERT_TRUE(context.poller.Open().ok());
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  Answering server((base::FileDescriptor(ends[0])));
  auto session = std::make_unique<Http2Session>(Http2Session::Side::kClient,
                                                kLimits, "server");
  session->SkipStreamIdsTo(Http2Session::kLastStreamId - 2);
  protocol::DialTarget target;
  target.name = "server";
  target.stream = protocol::Stream(base::FileDescriptor(ends[1]));
  target.session = std::move(session);
  std::vector<protocol::StreamPeer> peers(1);
  peers[0].servers.emplace_back().push_back(std::move(target));
  protocol::StreamClient<Http2ClientConnection> client(context);
  client.SetPeers(std::move(peers));
  Ended events;
  protocol::ClientCall calls[3];
  for (protocol::ClientCall& call : calls) {
    call.request_bytes = 100;
    EXPECT_TRUE(client.Start(&call));
  }
  client.ForEachConnection(
      [](Http2ClientConnection& connection) { connection.Flush(); });
  server.Serve();
  client.ForEachConnection([&](Http2ClientConnection& connection) {
    connection.OnReady(EPOLLIN, events);
  });
  client.DeliverEnded(events);
  // The third waits until another connection has been made.
  ASSERT_THAT(events.errors, SizeIs(2));
  EXPECT_THAT(events.errors[0], IsEmpty());
  EXPECT_THAT(events.errors[1], IsEmpty());
  EXPECT_EQ(client.in_flight(), 1);
  EXPECT_EQ(counters.renewed_connections, 1);
  EXPECT_EQ(counters.errors(protocol::StreamError::kClosedByPeer), 0);
}

}  // namespace
}  // namespace distbench::http2
