// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes of a peer end with messages or with an error.

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "distbench/base/files.h"
#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/http2/http2_connection.h"
#include "distbench/products/http2/message.h"
#include "distbench/products/http2/session.h"
#include "distbench/products/http2/testing/fuzz_entry.h"
#include "distbench/protocol/tcp/stream.h"
#include "gtest/gtest.h"

namespace distbench::http2 {
namespace {

constexpr int kRounds = 2000;
constexpr int kRpcs = 2;

std::string MessageBytes(const payload::RequestHeader& header,
                         int64_t target_bytes) {
  Http2Output output;
  output.Fill(header, target_bytes);
  const Http2Output::Piece piece = output.Take(output.bytes_left());
  return std::string(piece.head) + std::string(piece.payload_bytes, 'P');
}

// A session that records what it sends.
class RecordedSide final : private Http2Session::Handler {
 public:
  explicit RecordedSide(Http2Session::Side side)
      : session_(side, {1 << 20, 1 << 20, 100, 1 << 20}, "authority") {
    session_.set_handler(*this);
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    stream_ = protocol::Stream(base::FileDescriptor(ends[0]));
    peer_ = base::FileDescriptor(ends[1]);
  }

  void SendRequest(int64_t bytes, int64_t response_bytes = 100) {
    exchanges_.push_back(std::make_unique<Http2Exchange>());
    exchanges_.back()->output.Fill(
        payload::RequestHeader{.rpc_index = 3,
                               .response_bytes = response_bytes},
        bytes);
    EXPECT_TRUE(session_.SendRequest(*exchanges_.back(), kGenericRpcMethod,
                                     1'000'000'000));
  }

  // Takes what the other side has sent, and returns what this side sends.
  std::string Exchange(const std::string& input) {
    EXPECT_TRUE(session_.Receive(input));
    EXPECT_EQ(session_.Write(stream_), protocol::SendQueue::Outcome::kEmpty);
    std::string sent(1 << 16, '\0');
    const ssize_t count = read(peer_.get(), sent.data(), sent.size());
    sent.resize(count > 0 ? count : 0);
    return sent;
  }

 private:
  Http2Exchange& OnOpened() override {
    exchanges_.push_back(std::make_unique<Http2Exchange>());
    return *exchanges_.back();
  }
  void OnReceived(Http2Exchange& exchange) override {
    if (exchange.path.empty()) return;  // a response
    exchange.output.Fill(payload::ResponseHeader{.server_instance = 1}, 100);
    session_.SendResponse(exchange);
  }
  void OnClosed(Http2Exchange&, absl::string_view) override {}

  std::vector<std::unique_ptr<Http2Exchange>> exchanges_;
  Http2Session session_;
  protocol::Stream stream_;
  base::FileDescriptor peer_;
};

// What the sides of a connection send for some RPCs.
struct Conversation {
  std::string from_client = {kHttp2FromClient};
  std::string from_server = {kHttp2FromServer};
};

Conversation Converse(int rpcs, int64_t request_bytes) {
  RecordedSide client(Http2Session::Side::kClient);
  RecordedSide server(Http2Session::Side::kServer);
  for (int i = 0; i < rpcs; ++i) client.SendRequest(request_bytes);
  Conversation all;
  std::string to_client;
  for (int i = 0; i < 4; ++i) {
    const std::string to_server = client.Exchange(to_client);
    to_client = server.Exchange(to_server);
    all.from_client += to_server;
    all.from_server += to_client;
  }
  return all;
}

void Mutate(std::mt19937& random, std::string& bytes) {
  const size_t position = random() % bytes.size();
  switch (random() % 3) {
    case 0:
      bytes[position] ^= static_cast<char>(1 << random() % 8);
      break;
    case 1:
      bytes.erase(position, 1 + random() % 8);
      break;
    case 2:
      bytes.insert(position, 1 + random() % 8, static_cast<char>(random()));
      break;
  }
  if (bytes.empty()) bytes = kHttp2FromClient;
}

TEST(Http2FuzzTest, WellFormedInputsAreUnderstood) {
  const Conversation all = Converse(kRpcs, 300);
  for (const size_t piece_bytes : {1, 100'000}) {
    EXPECT_EQ(ReceiveHttp2(all.from_client, piece_bytes),
              (Http2Outcome{.messages = kRpcs, .exchanges = kRpcs}));
    EXPECT_EQ(ReceiveHttp2(all.from_server, piece_bytes),
              (Http2Outcome{.messages = kRpcs, .exchanges = kRpcs}));
  }
}

TEST(Http2FuzzTest, SurvivesMutatedConnections) {
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    Conversation all = Converse(kRpcs, random() % 500);
    std::string& input = round % 2 == 0 ? all.from_client : all.from_server;
    for (int i = 0; i <= round % 4; ++i) Mutate(random, input);
    FuzzHttp2(input);
    const Http2Outcome outcome = ReceiveHttp2(input, 64);
    refused += !outcome.is_valid || outcome.messages < kRpcs;
  }
  // Changes of payloads are not noticed.
  EXPECT_GT(refused, kRounds / 10);
  EXPECT_LT(refused, kRounds);
}

TEST(Http2FuzzTest, SurvivesMutatedMessages) {
  std::mt19937 random(2);
  int refused = 0;
  for (int round = 0; round < 10 * kRounds; ++round) {
    const std::string trace(random() % 100, 't');
    std::string input =
        kHttp2Message + MessageBytes({.rpc_index = round,
                                      .response_bytes = round,
                                      .trace_context = trace},
                                     static_cast<int64_t>(random() % 300));
    ASSERT_EQ(ReceiveHttp2(input, 64).messages, 1);
    for (int i = 0; i <= round % 4; ++i) Mutate(random, input);
    FuzzHttp2(input);
    refused += ReceiveHttp2(input, 64).messages == 0;
  }
  EXPECT_GT(refused, kRounds);
}

TEST(Http2FuzzTest, SurvivesAbsurdResponseSizes) {
  for (const int64_t response_bytes : {INT64_MIN, int64_t{-2}, INT64_MAX}) {
    RecordedSide client(Http2Session::Side::kClient);
    client.SendRequest(16, response_bytes);
    FuzzHttp2(kHttp2FromClient + client.Exchange(""));
  }
}

TEST(Http2FuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& input : fuzzing::KeptCorpus("http2"))
    FuzzHttp2(input);
}

}  // namespace
}  // namespace distbench::http2
