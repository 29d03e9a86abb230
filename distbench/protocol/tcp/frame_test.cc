#include "distbench/protocol/tcp/frame.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace distbench {
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
  EXPECT_EQ(CheckFrameHeader({.message_bytes = 0x700000,
                              .head_bytes = kMaxHeadBytes + 1},
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
  EXPECT_EQ(check(kMaxMessageBytes, FrameKind::kReply), StreamError::kNone);
  EXPECT_EQ(check(kMaxMessageBytes + 1, FrameKind::kReply),
            StreamError::kOversizedMessage);
  EXPECT_EQ(check(kMaxMessageBytes + 16, FrameKind::kTimedReply),
            StreamError::kNone);
  EXPECT_EQ(check(kMaxMessageBytes + 17, FrameKind::kTimedReply),
            StreamError::kOversizedMessage);
  EXPECT_EQ(CheckFrameHeader({.kind = FrameKind::kReply},
                             FrameKind::kTimedReply),
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

TEST(FrameTest, ErrorsHaveDescriptions) {
  for (size_t i = 0; i < kStreamErrorCount; ++i) {
    EXPECT_NE(Describe(static_cast<StreamError>(i)), "unknown error");
    EXPECT_NE(NameOf(static_cast<StreamError>(i)), "unknown");
  }
}

TEST(FrameTest, CountersSayWhatWasCounted) {
  StreamCounters counters;
  EXPECT_TRUE(counters.List().empty());
  counters.CountError(StreamError::kClosedByPeer);
  counters.CountError(StreamError::kClosedByPeer);
  ++counters.reconnects;
  const std::vector<DriverCounter> list = counters.List();
  ASSERT_EQ(list.size(), 2);
  EXPECT_EQ(list[0].name, "connections_lost_closed_by_peer");
  EXPECT_EQ(list[0].value, 2);
  EXPECT_EQ(list[1].name, "reconnects");
  EXPECT_EQ(list[1].value, 1);
}

}  // namespace
}  // namespace distbench
