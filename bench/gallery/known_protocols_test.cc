// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/gallery/known_protocols.h"

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace bench {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kMessageBytes = 7;

enum { kData = 0, kHeaders = 1, kSettings = 4, kPing = 6, kWindowUpdate = 8 };

std::string Frame(char type, char flags, char stream,
                  std::string_view payload) {
  std::string frame = {
      0, 0, static_cast<char>(payload.size()), type, flags, 0, 0, 0, stream};
  return frame.append(payload);
}

// Gives bytes to the protocol one by one; returns what it sends.
std::string ReadSlowly(Protocol& protocol, std::string_view bytes) {
  std::string replies;
  for (const char byte : bytes) {
    EXPECT_TRUE(protocol.Read({&byte, 1}, replies));
  }
  return replies;
}

std::string AnswerAll(Protocol& protocol, bool succeeds) {
  std::string replies;
  while (protocol.HasRequest()) protocol.Answer(succeeds, replies);
  return replies;
}

// A client that has sent its preface and got the server's settings.
std::unique_ptr<Protocol> Greeted(std::string_view name) {
  auto protocol = MakeProtocol(name);
  EXPECT_EQ(ReadSlowly(*protocol, kPreface), Frame(kSettings, 0, 0, ""));
  return protocol;
}

TEST(Http1Test, AnswersEachRequestOnce) {
  const auto protocol = MakeProtocol("http1");
  ReadSlowly(*protocol,
             "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
             "GET / HTTP/1.1\r\n\r\n");
  const std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  EXPECT_EQ(AnswerAll(*protocol, true), reply + reply);
  ReadSlowly(*protocol, "GET / HTTP/1.1\r\n\r");
  EXPECT_FALSE(protocol->HasRequest());
  ReadSlowly(*protocol, "\n");
  EXPECT_EQ(AnswerAll(*protocol, false),
            "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
}

TEST(Http2Test, RefusesOtherProtocols) {
  std::string replies;
  EXPECT_FALSE(MakeProtocol("http2")->Read(
      "GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n", replies));
}

TEST(Http2Test, AcknowledgesSettingsAndPingsButNoAcknowledgements) {
  const auto protocol = Greeted("http2");
  EXPECT_EQ(ReadSlowly(*protocol, Frame(kSettings, 0, 0, "123456")),
            Frame(kSettings, 1, 0, ""));
  EXPECT_EQ(ReadSlowly(*protocol, Frame(kPing, 0, 0, "12345678")),
            Frame(kPing, 1, 0, "12345678"));
  EXPECT_EQ(ReadSlowly(*protocol, Frame(kSettings, 1, 0, "")), "");
  EXPECT_EQ(ReadSlowly(*protocol, Frame(kPing, 1, 0, "12345678")), "");
}

TEST(Http2Test, AnswersStreamsInTheOrderOfTheirEnds) {
  const auto protocol = Greeted("http2");
  ReadSlowly(*protocol, Frame(kHeaders, 4, 1, "h"));
  EXPECT_FALSE(protocol->HasRequest());
  ReadSlowly(*protocol, Frame(kHeaders, 5, 3, "h") + Frame(kData, 1, 1, ""));
  EXPECT_EQ(AnswerAll(*protocol, true),
            Frame(kHeaders, 5, 3, "\x88") + Frame(kHeaders, 5, 1, "\x88"));
  ReadSlowly(*protocol, Frame(kHeaders, 5, 5, "h"));
  EXPECT_EQ(AnswerAll(*protocol, false), Frame(kHeaders, 5, 5, "\x8e"));
}

TEST(GrpcTest, AnswersWithAMessageAndAStatus) {
  const auto protocol = Greeted("grpc");
  const std::string headers = Frame(kHeaders, 4, 1,
                                    "\x88\x0f\x10\x10"
                                    "application/grpc");
  // The window of the connection is restored.
  EXPECT_EQ(ReadSlowly(*protocol, Frame(kHeaders, 4, 1, "h") +
                                      Frame(kData, 1, 1, "12345")),
            Frame(kWindowUpdate, 0, 0, std::string_view("\0\0\0\5", 4)));
  EXPECT_EQ(AnswerAll(*protocol, true),
            headers +
                Frame(kData, 0, 1, std::string_view("\0\0\0\0\2\x08\x01", 7)) +
                Frame(kHeaders, 5, 1,
                      std::string_view("\0\x0b"
                                       "grpc-status\1"
                                       "0",
                                       15)));
  ReadSlowly(*protocol, Frame(kHeaders, 5, 1, "h"));
  EXPECT_EQ(AnswerAll(*protocol, false),
            headers + Frame(kHeaders, 5, 1,
                            std::string_view("\0\x0b"
                                             "grpc-status\2"
                                             "13",
                                             16)));
}

TEST(GrpcTest, WaitsForTheWindowOfTheClient) {
  const auto protocol = Greeted("grpc");
  int answered_count = 0;
  const auto answer = [&] {
    std::string replies;
    while (protocol->HasRequest()) {
      protocol->Answer(true, replies);
      ++answered_count;
    }
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string replies;
    protocol->Read(Frame(kHeaders, 5, 1, "h"), replies);
  }
  answer();
  EXPECT_EQ(answered_count, 65535 / static_cast<int>(kMessageBytes));
  // That of a stream does not count.
  const std::string_view bytes("\0\0\0\x1c", 4);
  ReadSlowly(*protocol, Frame(kWindowUpdate, 0, 1, bytes));
  EXPECT_FALSE(protocol->HasRequest());
  ReadSlowly(*protocol, Frame(kWindowUpdate, 0, 0, bytes));
  answer();
  EXPECT_EQ(answered_count, 65535 / static_cast<int>(kMessageBytes) + 4);
}

}  // namespace
}  // namespace bench
