// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a client that need not belong to the test can make a server keep and do.

#include <nghttp2/nghttp2.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/base/object_pool.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/http2/http2_connection.h"
#include "distbench/products/http2/message.h"
#include "distbench/products/http2/server_connection.h"
#include "distbench/products/http2/session.h"
#include "distbench/products/http2/settings.h"
#include "distbench/products/http2/testing/raw_frames.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/stream_server.h"
#include "distbench/protocol/tcp/turn_work.h"
#include "distbench/security/nonce.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::http2 {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Http2Limits kLimits = {.stream_window_bytes = 1 << 20,
                                 .connection_window_bytes = 1 << 20,
                                 .max_concurrent_streams = 100,
                                 .kept_request_bytes = 1 << 20};

// A message of this size that consists of unknown fields of two bytes each.
std::string UnknownFields(size_t bytes) {
  std::string message(bytes, '\0');
  for (size_t i = 0; i < bytes; i += 2) message[i] = '\x78';  // field 15
  return message;
}

std::string Prefixed(absl::string_view message) {
  std::string bytes(kMessagePrefixBytes, '\0');
  for (int i = 0; i < 4; ++i) {
    bytes[1 + i] = static_cast<char>(message.size() >> (24 - 8 * i));
  }
  return bytes.append(message.data(), message.size());
}

// A message with the trace context in pieces of this size, below 16 KiB.
std::string TraceContexts(int count, size_t bytes) {
  std::string message;
  for (int i = 0; i < count; ++i) {
    message += '\x12';  // field 2, of a length that follows
    message += static_cast<char>(0x80 | (bytes & 0x7f));
    message += static_cast<char>(bytes >> 7);
    message.append(bytes, '\0');
  }
  return message;
}

// With a look at all of the message for each piece this would take minutes.
TEST(Http2StrangersTest, MessagesInSmallPiecesTakeNoMoreTime) {
  const std::string bytes = Prefixed(UnknownFields(1 << 20));
  Http2Input input;
  for (const char& byte : bytes) {
    ASSERT_TRUE(input.Receive(absl::string_view(&byte, 1)));
  }
  EXPECT_TRUE(input.is_complete());
  payload::RequestHeader header;
  EXPECT_TRUE(input.Decode(header));
}

TEST(Http2StrangersTest, WhatIsNotValidIsNotKept) {
  Http2Input input;
  const std::string bytes = Prefixed(UnknownFields(1000));
  EXPECT_TRUE(input.Receive(bytes));
  EXPECT_THAT(input.kept(), SizeIs(1000));
  EXPECT_FALSE(input.Receive("x"));
  EXPECT_THAT(input.kept(), IsEmpty());
}

// Keeps all exchanges, and answers none.
class Silent final : public Http2Session::Handler {
 public:
  Http2Exchange& OnOpened() override { return exchanges.emplace_back(); }
  void OnReceived(Http2Exchange&) override { ++received; }
  void OnClosed(Http2Exchange&, absl::string_view reason) override {
    reasons.emplace_back(reason);
  }

  std::deque<Http2Exchange> exchanges;
  int received = 0;
  std::vector<std::string> reasons;
};

// The two ends of a connection.
struct SocketPair {
  SocketPair() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    client = protocol::Stream(base::FileDescriptor(ends[0]));
    server = base::FileDescriptor(ends[1]);
  }

  protocol::Stream client;
  base::FileDescriptor server;
};

// Hands what has arrived at a stream to a session. Returns whether there was
// anything.
bool Receive(protocol::Stream& stream, Http2Session& session) {
  std::string buffer(1 << 16, '\0');
  const ssize_t size = stream.Receive(buffer.data(), buffer.size());
  if (size <= 0) return false;
  EXPECT_TRUE(session.Receive(absl::string_view(buffer).substr(0, size)));
  return true;
}

void Write(protocol::Stream& stream, Http2Session& session) {
  EXPECT_NE(session.Write(stream), protocol::SendQueue::Outcome::kBroken);
}

// The fields of the requests are complete, and large.
TEST(Http2StrangersTest, AServerKeepsSoMuchForAConnection) {
  Silent server_side;
  Silent client_side;
  SocketPair sockets;
  protocol::Stream server_stream(std::move(sockets.server));
  Http2Session server(Http2Session::Side::kServer, kLimits);
  Http2Session client(Http2Session::Side::kClient, kLimits, "server");
  server.set_handler(server_side);
  client.set_handler(client_side);
  const std::string message = UnknownFields(300'000);
  const auto send = [&](int count) {
    for (int i = 0; i < count; ++i) {
      Http2Exchange& exchange = client_side.exchanges.emplace_back();
      exchange.output.FillWith(message);
      ASSERT_TRUE(client.SendRequest(exchange, kGenericRpcMethod,
                                     Http2Session::kNoTimeout));
    }
    bool goes_on = true;
    while (goes_on) {
      Write(sockets.client, client);
      goes_on = Receive(server_stream, server);
      Write(server_stream, server);
      goes_on |= Receive(sockets.client, client);
    }
  };
  const auto kept = [&] {
    size_t bytes = 0;
    for (const Http2Exchange& exchange : server_side.exchanges) {
      bytes += exchange.input.kept().size();
    }
    return bytes;
  };
  send(10);
  EXPECT_LE(kept(), kLimits.kept_request_bytes);
  EXPECT_THAT(client_side.reasons, testing::Not(IsEmpty()));
  EXPECT_THAT(client_side.reasons, Each("ENHANCE_YOUR_CALM"));
  // There is room again for others.
  for (Http2Exchange& exchange : server_side.exchanges) {
    server.Reset(exchange);
    server.Release(exchange);
    exchange.Clear();
  }
  client_side.reasons.clear();
  send(3);
  EXPECT_EQ(kept(), 3 * message.size());
}

// However much the client wants and reads.
TEST(Http2StrangersTest, AServerWritesSoMuchAtOnce) {
  constexpr int kRoom = 8 << 20;
  constexpr Http2Limits kWide = {.stream_window_bytes = kRoom,
                                 .connection_window_bytes = kRoom,
                                 .max_concurrent_streams = 1,
                                 .kept_request_bytes = 1 << 20};
  SocketPair sockets;
  if (setsockopt(sockets.server.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kRoom,
                 sizeof(kRoom)) != 0) {
    GTEST_SKIP() << "needs CAP_NET_ADMIN";
  }
  protocol::Stream server_stream(std::move(sockets.server));
  Silent server_side;
  Silent client_side;
  Http2Session server(Http2Session::Side::kServer, kWide);
  Http2Session client(Http2Session::Side::kClient, kWide, "server");
  server.set_handler(server_side);
  client.set_handler(client_side);
  Http2Exchange& request = client_side.exchanges.emplace_back();
  request.output.Fill(payload::RequestHeader(), 100);
  ASSERT_TRUE(
      client.SendRequest(request, kGenericRpcMethod, Http2Session::kNoTimeout));
  Write(sockets.client, client);
  ASSERT_TRUE(Receive(server_stream, server));
  ASSERT_EQ(server_side.received, 1);
  Http2Exchange& exchange = server_side.exchanges.front();
  exchange.output.Fill(payload::ResponseHeader(), kRoom / 2);
  server.SendResponse(exchange);
  EXPECT_EQ(server.Write(server_stream),
            protocol::SendQueue::Outcome::kNotEmpty);
  int written = 0;
  ASSERT_EQ(ioctl(sockets.client.fd(), FIONREAD, &written), 0);
  EXPECT_GT(written, protocol::TurnWork::kSentBytes / 2);
  EXPECT_LT(written, protocol::TurnWork::kSentBytes + 65'536);
  // The next turns go on.
  int turns = 1;
  while (turns < 100 &&
         server.Write(server_stream) != protocol::SendQueue::Outcome::kEmpty) {
    ++turns;
    while (Receive(sockets.client, client)) {
    }
  }
  while (Receive(sockets.client, client)) {
  }
  EXPECT_TRUE(request.input.is_complete());
  EXPECT_GE(turns, 7);
}

using Fields = std::vector<std::pair<std::string, std::string>>;

// What a client sends that begins with a request of these fields.
std::string RequestOf(const Fields& fields) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session* session = nullptr;
  EXPECT_EQ(nghttp2_session_callbacks_new(&callbacks), 0);
  EXPECT_EQ(nghttp2_session_client_new(&session, callbacks, nullptr), 0);
  nghttp2_session_callbacks_del(callbacks);
  std::vector<nghttp2_nv> all;
  for (const auto& [name, value] : fields) {
    const auto bytes = [](const std::string& text) {
      return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
    };
    all.push_back({.name = bytes(name),
                   .value = bytes(value),
                   .namelen = name.size(),
                   .valuelen = value.size()});
  }
  EXPECT_EQ(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0), 0);
  EXPECT_GT(nghttp2_submit_request(session, nullptr, all.data(), all.size(),
                                   nullptr, nullptr),
            0);
  std::string sent;
  const uint8_t* bytes = nullptr;
  ssize_t size = 0;
  while ((size = nghttp2_session_mem_send(session, &bytes)) > 0) {
    sent.append(reinterpret_cast<const char*>(bytes), size);
  }
  nghttp2_session_del(session);
  return sent;
}

TEST(Http2StrangersTest, OfAFieldAServerKeepsLittle) {
  const std::string path = kGenericRpcMethod + std::string(1000, 'x');
  const std::string large(1000, 'x');
  Silent server_side;
  Http2Session server(Http2Session::Side::kServer, kLimits);
  server.set_handler(server_side);
  ASSERT_TRUE(server.Receive(RequestOf({{":method", "POST"},
                                        {":path", path},
                                        {":status", large},
                                        {"grpc-status", large},
                                        {"grpc-message", large},
                                        {"other", large}})));
  ASSERT_EQ(server_side.received, 1);
  const Http2Exchange& exchange = server_side.exchanges.front();
  EXPECT_EQ(exchange.path, path.substr(0, kMaxPathBytes));
  EXPECT_THAT(exchange.http_status, IsEmpty());
  EXPECT_THAT(exchange.grpc_status, IsEmpty());
  EXPECT_THAT(exchange.grpc_message, IsEmpty());
}

class Listener final : public protocol::ServerListener<Http2ServerConnection> {
 public:
  void OnDueChanged(Http2ServerConnection& connection) override {
    due_ns = connection.next_due_ns();
  }
  void OnProven(Http2ServerConnection&) override { ++proven; }
  void OnStrangerHeard(Http2ServerConnection&, int64_t) override { ++heard; }
  void OnClosed(Http2ServerConnection&) override {}

  int64_t due_ns = 0;
  int proven = 0;
  int heard = 0;
};

class Requests final : public protocol::TransportEvents {
 public:
  void OnDone(protocol::ClientCall*) override {}
  void OnRequest(protocol::ServerCall* call) override { calls.push_back(call); }

  std::vector<protocol::ServerCall*> calls;
};

Http2Settings SettingsWith(int64_t kept_request_bytes) {
  Http2Settings settings = {.server = kLimits, .send_queue_bytes = 64 << 10};
  settings.server.kept_request_bytes = kept_request_bytes;
  return settings;
}

// A server's connection, and a client's session at its other end.
struct ServerAndClient {
  explicit ServerAndClient(
      int64_t kept_request_bytes = kLimits.kept_request_bytes,
      int64_t hello_due_ns = INT64_MAX)
      : settings(SettingsWith(kept_request_bytes)),
        server(context,
               {std::move(sockets.server), hello_due_ns, requests, listener}) {
    EXPECT_TRUE(opened.ok());
    client.set_handler(client_side);
  }

  // Sends a request of this size, or with this message: as much of it as the
  // server's first windows allow. Receives what the server says then.
  Http2Exchange& Send(const std::string& path, int64_t bytes) {
    Http2Exchange& exchange = client_side.exchanges.emplace_back();
    exchange.output.Fill(payload::RequestHeader(), bytes);
    return Send(path, exchange);
  }
  Http2Exchange& Send(const std::string& path, absl::string_view message) {
    Http2Exchange& exchange = client_side.exchanges.emplace_back();
    exchange.output.FillWith(message);
    return Send(path, exchange);
  }
  Http2Exchange& Send(const std::string& path, Http2Exchange& exchange) {
    EXPECT_TRUE(client.SendRequest(exchange, path, Http2Session::kNoTimeout));
    Write(sockets.client, client);
    server.OnReady(EPOLLIN, events);
    server.Flush();
    Receive(sockets.client, client);
    return exchange;
  }

  const Http2Settings settings;
  const protocol::ConnectionSecurity security;
  Http2Counters counters;
  Http2Context context{settings, security, counters};
  const absl::Status opened = context.poller.Open();  // before the connection
  base::ObjectPool<Http2Request> requests;
  Listener listener;
  Requests events;
  SocketPair sockets;
  Http2ServerConnection server;
  Silent client_side;
  Http2Session client{Http2Session::Side::kClient, kLimits, "server"};
};

// So many requests for an unknown path, of ten bytes each, from this stream on.
std::string SmallestRequests(int count, uint32_t first_stream) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    bytes += RawFrame(kHeadersFrame, kEndStream | kEndHeaders,
                      first_stream + 2 * i, kRootPath);
  }
  return bytes;
}

// Each of its requests makes the server reset a stream, without an end.
TEST(Http2StrangersTest, WhoDoesNotReadIsNotReadFromWithoutEnd) {
  constexpr int kTogether = 1000;
  constexpr size_t kMost = 16 << 20;
  ServerAndClient both;
  // It does not acknowledge the server's settings, which would be binding then.
  Write(both.sockets.client, both.client);
  std::string unsent;
  uint32_t next_stream = 1;
  size_t sent = 0;
  const auto send_some = [&] {
    if (unsent.empty()) {
      unsent = SmallestRequests(kTogether, next_stream);
      next_stream += 2 * kTogether;
    }
    const iovec piece = {.iov_base = unsent.data(), .iov_len = unsent.size()};
    const ssize_t count = both.sockets.client.Send(&piece, 1);
    if (count <= 0) return false;
    unsent.erase(0, count);
    sent += count;
    return true;
  };
  // A turn of the server, if its socket has no room.
  const auto serve = [&] {
    both.server.OnReady(EPOLLIN, both.events);
    both.server.Flush();
  };
  int idle_turns = 0;
  while (idle_turns < 10 && sent < kMost) {
    idle_turns = send_some() ? 0 : idle_turns + 1;
    serve();
  }
  EXPECT_LT(sent, kMost);
  // It goes on once the client reads.
  std::string buffer(1 << 16, '\0');
  bool goes_on = false;
  for (int i = 0; i < 1000 && !goes_on; ++i) {
    while (both.sockets.client.Receive(buffer.data(), buffer.size()) > 0) {
    }
    both.server.OnReady(EPOLLIN | EPOLLOUT, both.events);
    both.server.Flush();
    goes_on = send_some();
  }
  // From nghttp2 1.57 on, the library itself gives up who loses so many streams.
  EXPECT_TRUE(goes_on || both.server.is_closed());
}

// A connection whose hello is due at this time.
struct NewConnection : ServerAndClient {
  static constexpr int64_t kDueNs = 1000;

  NewConnection() : ServerAndClient(kLimits.kept_request_bytes, kDueNs) {}

  int64_t late_hellos() const {
    return counters.errors(protocol::StreamError::kHelloTimeout);
  }
};

TEST(Http2StrangersTest, AConnectionWithoutARequestIsNotKept) {
  NewConnection both;
  // All that there is of HTTP/2 before a request.
  Write(both.sockets.client, both.client);
  both.server.OnReady(EPOLLIN, both.events);
  both.server.Work(both.kDueNs - 1);
  EXPECT_FALSE(both.server.is_closed());
  both.server.Work(both.kDueNs);
  EXPECT_TRUE(both.server.is_closed());
  EXPECT_EQ(both.late_hellos(), 1);
}

TEST(Http2StrangersTest, AnyRequestIsAHello) {
  NewConnection both;
  both.Send("/unknown", 100);
  EXPECT_EQ(both.listener.due_ns, INT64_MAX);
  both.server.Work(both.kDueNs);
  EXPECT_FALSE(both.server.is_closed());
  EXPECT_EQ(both.listener.heard, 1);
  EXPECT_EQ(both.listener.proven, 0);
}

TEST(Http2StrangersTest, WhoKnowsTheNonceIsNoStranger) {
  ServerAndClient both;
  both.Send(protocol::kHandshakeMethod,
            protocol::HandshakeRequestWith(security::DrawNonce()));
  both.Send(protocol::kHandshakeMethod,
            protocol::HandshakeRequestWith(security::DrawChallenge("other")));
  EXPECT_EQ(both.listener.proven, 0);
  EXPECT_EQ(both.listener.heard, 2);
  both.Send(protocol::kHandshakeMethod,
            protocol::HandshakeRequestWith(
                security::DrawChallenge(both.security.test_nonce)));
  EXPECT_EQ(both.listener.proven, 1);
  both.Send(kGenericRpcMethod, 100);
  EXPECT_EQ(both.listener.heard, 3);
  EXPECT_EQ(both.counters.refused_requests, 0);
}

// A large one takes its time, and nothing else would ever end the connection of
// one that does not arrive.
TEST(Http2StrangersTest, ARequestThatArrivesIsAHelloUntilItIsGivenUp) {
  NewConnection both;
  both.Send(kGenericRpcMethod, 200'000);
  const int64_t check_ns = both.listener.due_ns;
  ASSERT_GT(check_ns, both.kDueNs);
  both.server.Work(both.kDueNs);
  both.server.Work(check_ns);
  EXPECT_FALSE(both.server.is_closed());
  both.server.Work(check_ns + both.settings.request_timeout_ns);
  EXPECT_EQ(both.counters.overdue_requests, 1);
  EXPECT_EQ(both.listener.due_ns, both.kDueNs);
  both.server.Work(both.listener.due_ns);
  EXPECT_TRUE(both.server.is_closed());
  EXPECT_EQ(both.late_hellos(), 1);
}

TEST(Http2StrangersTest, ALongPathIsUnknown) {
  ServerAndClient both;
  const Http2Exchange& exchange =
      both.Send(kGenericRpcMethod + std::string(1000, 'x'), 100);
  EXPECT_EQ(both.counters.refused_requests, 1);
  EXPECT_EQ(exchange.grpc_status, absl::StrCat(kGrpcUnimplemented));
}

// Other streams use the memory again, which no connection counts meanwhile.
TEST(Http2StrangersTest, OfARequestThatIsOverNothingIsKept) {
  ServerAndClient both;
  both.Send("/unknown", UnknownFields(50'000));
  both.Send(kGenericRpcMethod, TraceContexts(2, 10'000));
  ASSERT_THAT(both.events.calls, SizeIs(1));
  EXPECT_THAT(both.events.calls[0]->trace_context, SizeIs(20'000));
  both.server.Reply(static_cast<Http2Request&>(*both.events.calls[0]));
  both.server.Flush();
  ASSERT_EQ(both.requests.in_use(), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(both.requests.Get()->input.kept_bytes(), 0);
  }
}

TEST(Http2StrangersTest, RequestsForWhichThereIsNoRoomAreCounted) {
  ServerAndClient both(/*kept_request_bytes=*/50'000);
  both.Send(kGenericRpcMethod, UnknownFields(30'000));
  EXPECT_EQ(both.counters.unkept_requests, 0);
  both.Send(kGenericRpcMethod, UnknownFields(30'000));
  EXPECT_EQ(both.counters.unkept_requests, 1);
  EXPECT_EQ(both.counters.refused_requests, 0);
  EXPECT_THAT(both.client_side.reasons, ElementsAre("ENHANCE_YOUR_CALM"));
  EXPECT_THAT(both.events.calls, SizeIs(1));
  // Its trace context is kept once more, because it comes in pieces.
  both.Send(kGenericRpcMethod, TraceContexts(2, 8000));
  EXPECT_EQ(both.counters.unkept_requests, 2);
  EXPECT_THAT(both.client_side.reasons, SizeIs(2));
  EXPECT_THAT(both.events.calls, SizeIs(1));
}

TEST(Http2StrangersTest, ARequestThatDoesNotGoOnIsGivenUp) {
  ServerAndClient both;
  // The server's windows are smaller, and it has not enlarged them yet.
  both.Send(kGenericRpcMethod, 200'000);
  const int64_t first_ns = both.listener.due_ns;
  ASSERT_LT(first_ns, INT64_MAX);
  // Something has arrived since, but then nothing.
  both.server.Work(first_ns - 1);
  both.server.Work(first_ns);
  const int64_t second_ns = both.listener.due_ns;
  EXPECT_EQ(second_ns, first_ns + both.settings.request_timeout_ns);
  both.server.Flush();
  EXPECT_EQ(both.counters.overdue_requests, 0);
  EXPECT_EQ(both.requests.in_use(), 1);
  both.server.Work(second_ns);
  EXPECT_EQ(both.listener.due_ns, INT64_MAX);
  EXPECT_EQ(both.counters.overdue_requests, 1);
  EXPECT_EQ(both.requests.in_use(), 0);
  both.server.Flush();
  while (Receive(both.sockets.client, both.client)) {
  }
  EXPECT_THAT(both.client_side.reasons, ElementsAre("CANCEL"));
}

}  // namespace
}  // namespace distbench::http2
