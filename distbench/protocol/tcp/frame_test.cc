// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/frame.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

TEST(FrameTest, HeadersHaveTheDocumentedBytes) {
  char bytes[kFrameHeaderBytes];
  EncodeFrameHeader({.message_bytes = 0x01020304,
                     .head_bytes = 0x0a0b,
                     .kind = FrameKind::kReply,
                     .call_id = 0x1122334455667788},
                    bytes);
  EXPECT_EQ(std::string(bytes, sizeof(bytes)),
            std::string("\x04\x03\x02\x01\x0b\x0a\0\x02"
                        "\x88\x77\x66\x55\x44\x33\x22\x11",
                        16));
  const FrameHeader header = DecodeFrameHeader(bytes);
  EXPECT_EQ(header.message_bytes, 0x01020304);
  EXPECT_EQ(header.head_bytes, 0x0a0b);
  EXPECT_EQ(header.kind, FrameKind::kReply);
  EXPECT_EQ(header.call_id, 0x1122334455667788);
}

TEST(FrameTest, HeadersAreChecked) {
  const FrameHeader good = {.message_bytes = 10, .head_bytes = 10};
  EXPECT_EQ(CheckFrameHeader(good, FrameKind::kRequest), StreamError::kNone);
  EXPECT_EQ(CheckFrameHeader(good, FrameKind::kReply),
            StreamError::kWrongFrameKind);
  EXPECT_EQ(CheckFrameHeader({.message_bytes = 0x7fffffff}, good.kind),
            StreamError::kOversizedMessage);
  EXPECT_EQ(CheckFrameHeader(
                {.message_bytes = 0x700000, .head_bytes = kMaxHeadBytes + 1},
                good.kind),
            StreamError::kOversizedHead);
  EXPECT_EQ(CheckFrameHeader({.message_bytes = 9, .head_bytes = 10}, good.kind),
            StreamError::kHeadBeyondMessage);
}

TEST(FrameTest, TimesOfRepliesHaveTheDocumentedBytes) {
  char bytes[kReplyTimesBytes];
  EncodeReplyTimes({.queue_ns = 0x0102, .handler_ns = -2}, bytes);
  EXPECT_EQ(std::string(bytes, sizeof(bytes)),
            std::string("\x02\x01\0\0\0\0\0\0"
                        "\xfe\xff\xff\xff\xff\xff\xff\xff",
                        16));
  EXPECT_EQ(DecodeReplyTimes(bytes).queue_ns, 0x0102);
  EXPECT_EQ(DecodeReplyTimes(bytes).handler_ns, -2);
}

TEST(FrameTest, TimesDoNotMakeTheLargestMessageTooLarge) {
  const auto check = [](int64_t message_bytes, FrameKind kind) {
    return CheckFrameHeader(
        {.message_bytes = static_cast<uint32_t>(message_bytes), .kind = kind},
        kind);
  };
  EXPECT_EQ(check(payload::kMaxMessageBytes, FrameKind::kReply),
            StreamError::kNone);
  EXPECT_EQ(check(payload::kMaxMessageBytes + 1, FrameKind::kReply),
            StreamError::kOversizedMessage);
  EXPECT_EQ(check(payload::kMaxMessageBytes + 16, FrameKind::kTimedReply),
            StreamError::kNone);
  EXPECT_EQ(check(payload::kMaxMessageBytes + 17, FrameKind::kTimedReply),
            StreamError::kOversizedMessage);
  EXPECT_EQ(
      CheckFrameHeader({.kind = FrameKind::kReply}, FrameKind::kTimedReply),
      StreamError::kWrongFrameKind);
}

TEST(FrameTest, HellosAreRecognisedAsFarAsTheyGo) {
  char bytes[kHelloBytes];
  EncodeHello(bytes);
  const std::string hello(bytes, sizeof(bytes));
  EXPECT_EQ(hello.substr(0, 9), "distbtcp\x02");
  for (size_t size = 0; size <= kHelloBytes; ++size) {
    EXPECT_EQ(CheckHello(hello.substr(0, size)), StreamError::kNone);
  }
  EXPECT_EQ(CheckHello("GET /"), StreamError::kNoHello);
  std::string other = hello;
  other[8] = 1;
  EXPECT_EQ(CheckHello(other), StreamError::kOtherVersion);
  other = hello;
  other[15] = 1;
  EXPECT_EQ(CheckHello(other), StreamError::kNoHello);
}

TEST(FrameTest, ErrorsHaveNamesAndDescriptions) {
  EXPECT_EQ(NameOf(StreamError::kNone), "none");
  EXPECT_EQ(NameOf(StreamError::kTlsFailed), "tls_failed");
  EXPECT_EQ(NameOf(StreamError::kUnknownCall), "unknown_call");
  EXPECT_EQ(NameOf(StreamError::kHandshakeRefused), "handshake_refused");
  EXPECT_EQ(NameOf(StreamError::kOnPurpose), "on_purpose");
  EXPECT_EQ(Describe(StreamError::kOnPurpose),
            "broken on purpose, as the test asks");
}

TEST(FrameTest, CountersSayWhatWasCounted) {
  StreamCounters counters;
  EXPECT_TRUE(counters.List().empty());
  counters.CountEnd(StreamError::kClosedByPeer, /*was_in_use=*/true);
  counters.CountEnd(StreamError::kClosedByPeer, /*was_in_use=*/true);
  counters.CountEnd(StreamError::kClosedByPeer, /*was_in_use=*/false);
  ++counters.reconnects;
  const std::vector<DriverCounter> list = counters.List();
  ASSERT_EQ(list.size(), 2);
  EXPECT_EQ(list[0].name, "connections_lost_closed_by_peer");
  EXPECT_EQ(list[0].value, 2);
  EXPECT_EQ(list[1].name, "reconnects");
  EXPECT_EQ(list[1].value, 1);
}

std::string Frame(const std::string& head, size_t payload_bytes, uint64_t id) {
  std::string frame(kFrameHeaderBytes, '\0');
  EncodeFrameHeader(
      {.message_bytes = static_cast<uint32_t>(head.size() + payload_bytes),
       .head_bytes = static_cast<uint32_t>(head.size()),
       .call_id = id},
      frame.data());
  return frame + head + std::string(payload_bytes, 'D');
}

struct Decoded {
  uint64_t id;
  std::string head;
  uint32_t message_bytes;
  bool operator==(const Decoded&) const = default;
};

// Decodes the stream in pieces of this size.
StreamError Decode(const std::string& stream, size_t piece,
                   std::vector<Decoded>& frames) {
  FrameDecoder decoder(FrameKind::kRequest);
  for (size_t i = 0; i < stream.size(); i += piece) {
    // Has its own memory, so that tools notice reads beyond it.
    const std::string bytes = stream.substr(i, piece);
    const StreamError error = decoder.Decode(
        bytes, [&](const FrameHeader& header, absl::string_view head) {
          frames.push_back(
              {header.call_id, std::string(head), header.message_bytes});
          return StreamError::kNone;
        });
    if (error != StreamError::kNone) return error;
  }
  return StreamError::kNone;
}

TEST(FrameDecoderTest, FindsFramesHoweverTheStreamIsCut) {
  const std::string stream = Frame("one", 0, 1) + Frame("", 0, 2) +
                             Frame("three", 1000, 3) + Frame("", 50, 4) +
                             Frame(std::string(300, 'h'), 7, 5);
  const std::vector<Decoded> expected = {{1, "one", 3},
                                         {2, "", 0},
                                         {3, "three", 1005},
                                         {4, "", 50},
                                         {5, std::string(300, 'h'), 307}};
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    std::vector<Decoded> frames;
    ASSERT_EQ(Decode(stream, piece, frames), StreamError::kNone);
    ASSERT_EQ(frames, expected) << "in pieces of " << piece;
  }
}

TEST(FrameDecoderTest, StopsAtTheFirstMalformedFrame) {
  std::string bad = Frame("two", 0, 2);
  bad[7] = 9;  // the kind
  const std::string stream = Frame("one", 3, 1) + bad + Frame("three", 0, 3);
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    std::vector<Decoded> frames;
    EXPECT_EQ(Decode(stream, piece, frames), StreamError::kWrongFrameKind);
    EXPECT_EQ(frames.size(), 1);
  }
}

TEST(FrameDecoderTest, StopsWhenToldTo) {
  const std::string stream = Frame("one", 0, 1) + Frame("two", 0, 2);
  FrameDecoder decoder(FrameKind::kRequest);
  int frames = 0;
  EXPECT_EQ(decoder.Decode(stream,
                           [&](const FrameHeader&, absl::string_view) {
                             ++frames;
                             return StreamError::kMalformedMessage;
                           }),
            StreamError::kMalformedMessage);
  EXPECT_EQ(frames, 1);
}

TEST(FrameDecoderTest, MayBeUsedForAnotherStreamAfterAReset) {
  FrameDecoder decoder(FrameKind::kRequest);
  int frames = 0;
  const auto count = [&](const FrameHeader&, absl::string_view) {
    ++frames;
    return StreamError::kNone;
  };
  const std::string stream = Frame("one", 100, 1);
  EXPECT_EQ(decoder.Decode(stream.substr(0, 50), count), StreamError::kNone);
  EXPECT_GT(decoder.payload_bytes_left(), 0);
  decoder.Reset();
  EXPECT_EQ(decoder.payload_bytes_left(), 0);
  EXPECT_EQ(decoder.Decode(stream, count), StreamError::kNone);
  EXPECT_EQ(frames, 1);
}

}  // namespace
}  // namespace distbench::protocol
