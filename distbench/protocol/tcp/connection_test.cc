// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/listen_address.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/network_settings.h"
#include "distbench/protocol/tcp/socket.h"
#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"

namespace distbench::protocol {
namespace {

// A message without its payload.
template <typename Header>
struct Message {
  Message(const Header& header, int64_t target_bytes) {
    const payload::MessageLayout layout =
        payload::LayOutMessage(header, target_bytes);
    head.resize(layout.head_bytes);
    payload::WriteHead(header, layout, head.data());
    payload_bytes = layout.payload_bytes;
  }

  std::string head;
  int64_t payload_bytes = 0;
};

TEST(HeadReaderTest, HeadsThatDifferInOneThingAreToldApart) {
  HeadReader<payload::RequestHeader> reader;
  for (const payload::RequestHeader& header :
       {payload::RequestHeader{}, payload::RequestHeader{},
        payload::RequestHeader{.rpc_index = 1},
        payload::RequestHeader{.server_instance = 1},
        payload::RequestHeader{.warmup = true},
        payload::RequestHeader{.response_bytes = 5},
        payload::RequestHeader{.processing_ns = 5},
        payload::RequestHeader{.trace_context = "trace"},
        payload::RequestHeader{.trace_context = "other"},
        payload::RequestHeader{}}) {
    for (const int64_t bytes : {30, 30, 31, 1000}) {
      const Message<payload::RequestHeader> message(header, bytes);
      const payload::RequestHeader* read =
          reader.Read(message.head, message.payload_bytes);
      ASSERT_NE(read, nullptr);
      EXPECT_EQ(read->rpc_index, header.rpc_index);
      EXPECT_EQ(read->server_instance, header.server_instance);
      EXPECT_EQ(read->warmup, header.warmup);
      EXPECT_EQ(read->response_bytes, header.response_bytes);
      EXPECT_EQ(read->processing_ns, header.processing_ns);
      EXPECT_EQ(read->trace_context, header.trace_context);
    }
  }
}

TEST(HeadReaderTest, StringsAreThoseOfTheHeadThatIsRead) {
  HeadReader<payload::ResponseHeader> reader;
  const payload::ResponseHeader header{.error_message = "no such RPC"};
  // The same bytes at two addresses.
  const Message<payload::ResponseHeader> messages[] = {{header, 100},
                                                       {header, 100}};
  for (const Message<payload::ResponseHeader>& message : messages) {
    const payload::ResponseHeader* read =
        reader.Read(message.head, message.payload_bytes);
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read->error_message, header.error_message);
    EXPECT_GE(read->error_message.data(), message.head.data());
    EXPECT_LE(read->error_message.data(),
              message.head.data() + message.head.size());
  }
}

// A head says how large the payload behind it is.
TEST(HeadReaderTest, TheSameHeadBeforeAnotherPayloadIsMalformed) {
  HeadReader<payload::ResponseHeader> reader;
  const Message<payload::ResponseHeader> message(payload::ResponseHeader{},
                                                 100);
  EXPECT_NE(reader.Read(message.head, message.payload_bytes), nullptr);
  EXPECT_EQ(reader.Read(message.head, message.payload_bytes + 1), nullptr);
  EXPECT_NE(reader.Read(message.head, message.payload_bytes), nullptr);
}

TEST(HeadReaderTest, AMalformedHeadIsMalformedEachTime) {
  HeadReader<payload::ResponseHeader> reader;
  const Message<payload::ResponseHeader> good(
      payload::ResponseHeader{.server_instance = 3}, 100);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reader.Read("\xff", 0), nullptr);
    const payload::ResponseHeader* read =
        reader.Read(good.head, good.payload_bytes);
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read->server_instance, 3);
  }
}

// The two ends of a stream without a network.
class SendQueueTest : public testing::Test {
 protected:
  SendQueueTest() {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_), 0);
    stream_ = Stream(base::FileDescriptor(ends_[0]));
  }
  ~SendQueueTest() override { close(ends_[1]); }

  SendQueue::Outcome Write() { return queue_.Write(stream_); }

  // Returns everything that can be read.
  std::string Read() {
    std::string bytes;
    std::string piece(1 << 16, '\0');
    while (true) {
      const ssize_t count = read(ends_[1], piece.data(), piece.size());
      if (count <= 0) return bytes;
      bytes.append(piece, 0, count);
    }
  }

  int ends_[2];
  Stream stream_;  // writes to the first one
  SendQueue queue_;
};

// Removes the first frame from the bytes, and checks it.
void ExpectFrame(std::string& bytes, uint64_t id, int64_t message_bytes) {
  ASSERT_GE(bytes.size(), kFrameHeaderBytes);
  const FrameHeader header = DecodeFrameHeader(bytes.data());
  EXPECT_EQ(header.call_id, id);
  ASSERT_EQ(header.message_bytes, message_bytes);
  ASSERT_GE(bytes.size(), kFrameHeaderBytes + message_bytes);
  GenericRequestResponse message;
  ASSERT_TRUE(message.ParseFromArray(bytes.data() + kFrameHeaderBytes,
                                     static_cast<int>(message_bytes)));
  EXPECT_EQ(message.ByteSizeLong(), message_bytes);
  EXPECT_EQ(header.head_bytes, message_bytes - message.payload().size());
  EXPECT_EQ(message.payload(), std::string(message.payload().size(), 'D'));
  bytes.erase(0, kFrameHeaderBytes + message_bytes);
}

TEST_F(SendQueueTest, WritesManyFramesAtOnce) {
  EXPECT_EQ(Write(), SendQueue::Outcome::kEmpty);
  for (uint64_t id = 0; id < 100; ++id) {
    EXPECT_EQ(
        queue_.Append(FrameKind::kRequest, id, payload::RequestHeader{}, 16),
        16);
  }
  EXPECT_EQ(queue_.queued_bytes(), 100 * 32);
  EXPECT_EQ(Write(), SendQueue::Outcome::kEmpty);
  std::string bytes = Read();
  for (uint64_t id = 0; id < 100; ++id) ExpectFrame(bytes, id, 16);
  EXPECT_EQ(bytes, "");
}

TEST_F(SendQueueTest, MessagesOfAllSizesArriveWhole) {
  std::mt19937 random(1);
  const int sizes[] = {16, 500, 530, 540, 5000, 100'000, 3 << 20};
  std::string bytes;
  uint64_t next_in = 0;
  for (uint64_t id = 0; id < 200; ++id) {
    const int64_t size = sizes[id % std::size(sizes)];
    queue_.Append(FrameKind::kReply, id, payload::ResponseHeader{}, size);
    // The queue is rarely empty, and the socket is full most of the time.
    if (random() % 2 == 0) continue;
    while (queue_.queued_bytes() > 1 << 20) {
      ASSERT_NE(Write(), SendQueue::Outcome::kBroken);
      bytes += Read();
    }
    while (bytes.size() > (4 << 20)) {
      ExpectFrame(bytes, next_in, sizes[next_in % std::size(sizes)]);
      ++next_in;
      if (HasFatalFailure()) return;
    }
  }
  while (!queue_.empty()) {
    ASSERT_NE(Write(), SendQueue::Outcome::kBroken);
    bytes += Read();
  }
  bytes += Read();
  for (; next_in < 200 && !HasFatalFailure(); ++next_in) {
    ExpectFrame(bytes, next_in, sizes[next_in % std::size(sizes)]);
  }
  EXPECT_EQ(bytes, "");
}

TEST_F(SendQueueTest, FramesThatDifferInOneThingAreToldApart) {
  const payload::RequestHeader plain;
  const payload::RequestHeader headers[] = {
      plain,
      {.rpc_index = 1},
      {.server_instance = 1},
      {.warmup = true},
      {.response_bytes = 5},
      {.processing_ns = 5},
      {.trace_context = "trace"},
      {.trace_context = "other"},
      plain,
      plain,
  };
  std::string scratch;
  for (const payload::RequestHeader& header : headers) {
    for (int64_t bytes : {30, 30, 31, 1000}) {
      queue_.Append(FrameKind::kRequest, 1, header, bytes);
      ASSERT_EQ(Write(), SendQueue::Outcome::kEmpty);
      const std::string frame = Read();
      const FrameHeader frame_header = DecodeFrameHeader(frame.data());
      EXPECT_EQ(frame_header.message_bytes, bytes);
      payload::RequestHeader read;
      ASSERT_TRUE(
          payload::DecodeHead(absl::string_view(frame).substr(
                                  kFrameHeaderBytes, frame_header.head_bytes),
                              bytes - frame_header.head_bytes, read, scratch));
      EXPECT_EQ(read.rpc_index, header.rpc_index);
      EXPECT_EQ(read.server_instance, header.server_instance);
      EXPECT_EQ(read.warmup, header.warmup);
      EXPECT_EQ(read.response_bytes, header.response_bytes);
      EXPECT_EQ(read.processing_ns, header.processing_ns);
      EXPECT_EQ(read.trace_context, header.trace_context);
    }
  }
}

TEST_F(SendQueueTest, RepliesWithAnErrorAreToldApart) {
  const std::string error = "no such RPC";
  std::string scratch;
  for (const payload::ResponseHeader& header :
       {payload::ResponseHeader{},
        payload::ResponseHeader{.error_message = error},
        payload::ResponseHeader{},
        payload::ResponseHeader{.server_instance = 2}}) {
    queue_.Append(FrameKind::kReply, 1, header, 30);
    ASSERT_EQ(Write(), SendQueue::Outcome::kEmpty);
    const std::string frame = Read();
    const FrameHeader frame_header = DecodeFrameHeader(frame.data());
    payload::ResponseHeader read;
    ASSERT_TRUE(
        payload::DecodeHead(absl::string_view(frame).substr(
                                kFrameHeaderBytes, frame_header.head_bytes),
                            30 - frame_header.head_bytes, read, scratch));
    EXPECT_EQ(read.server_instance, header.server_instance);
    EXPECT_EQ(read.error_message, header.error_message);
  }
}

// Removes the first frame, a timed reply, from the bytes and checks it.
void ExpectTimedReply(std::string& bytes, uint64_t id, int64_t message_bytes,
                      const ReplyTimes& times) {
  ASSERT_GE(bytes.size(), kFrameHeaderBytes + kReplyTimesBytes);
  FrameHeader header = DecodeFrameHeader(bytes.data());
  EXPECT_EQ(header.kind, FrameKind::kTimedReply);
  const ReplyTimes read = DecodeReplyTimes(bytes.data() + kFrameHeaderBytes);
  EXPECT_EQ(read.queue_ns, times.queue_ns);
  EXPECT_EQ(read.handler_ns, times.handler_ns);
  // Without the times, it is a frame like any other.
  bytes.erase(kFrameHeaderBytes, kReplyTimesBytes);
  header.message_bytes -= kReplyTimesBytes;
  header.head_bytes -= kReplyTimesBytes;
  EncodeFrameHeader(header, bytes.data());
  ExpectFrame(bytes, id, message_bytes);
}

TEST_F(SendQueueTest, TimedRepliesSayWhenTheyWereHandedOver) {
  constexpr int64_t kBytes = kFrameHeaderBytes + kReplyTimesBytes + 16;
  EXPECT_FALSE(queue_.has_unstamped_replies());
  EXPECT_EQ(
      queue_.AppendTimedReply(1, payload::ResponseHeader{}, 16, /*queue_ns=*/7,
                              /*begun_ns=*/1000),
      16);
  EXPECT_EQ(queue_.queued_bytes(), kBytes);
  queue_.AppendTimedReply(2, payload::ResponseHeader{}, 16, 8, 1100);
  EXPECT_TRUE(queue_.has_unstamped_replies());
  queue_.StampReplies(1500);
  EXPECT_FALSE(queue_.has_unstamped_replies());
  queue_.AppendTimedReply(3, payload::ResponseHeader{}, 16, 9, 1200);
  queue_.StampReplies(1600);
  EXPECT_EQ(Write(), SendQueue::Outcome::kEmpty);
  std::string bytes = Read();
  ASSERT_EQ(bytes.size(), 3 * kBytes);
  ExpectTimedReply(bytes, 1, 16, {.queue_ns = 7, .handler_ns = 500});
  ExpectTimedReply(bytes, 2, 16, {.queue_ns = 8, .handler_ns = 400});
  ExpectTimedReply(bytes, 3, 16, {.queue_ns = 9, .handler_ns = 400});
}

// Replies move within the queue's memory before they are stamped.
TEST_F(SendQueueTest, TimedRepliesOfAllSizesArriveWhole) {
  std::mt19937 random(1);
  const int sizes[] = {2, 16, 500, 540, 5000, 100'000};
  std::string bytes;
  uint64_t next_in = 0;
  const auto times = [](uint64_t id) {
    const auto number = static_cast<int64_t>(id);
    return ReplyTimes{.queue_ns = number, .handler_ns = 1000 + number};
  };
  const auto expect_next = [&] {
    ExpectTimedReply(bytes, next_in, sizes[next_in % std::size(sizes)],
                     times(next_in));
    ++next_in;
  };
  for (uint64_t id = 0; id < 3000; ++id) {
    queue_.AppendTimedReply(id, payload::ResponseHeader{},
                            sizes[id % std::size(sizes)], times(id).queue_ns,
                            /*begun_ns=*/5000 - times(id).handler_ns);
    if (random() % 20 != 0) continue;
    queue_.StampReplies(5000);
    ASSERT_NE(Write(), SendQueue::Outcome::kBroken);
    bytes += Read();
    while (bytes.size() > (1 << 20) && !HasFatalFailure()) expect_next();
  }
  queue_.StampReplies(5000);
  while (!queue_.empty()) {
    ASSERT_NE(Write(), SendQueue::Outcome::kBroken);
    bytes += Read();
  }
  bytes += Read();
  while (next_in < 3000 && !HasFatalFailure()) expect_next();
  EXPECT_EQ(bytes, "");
}

TEST_F(SendQueueTest, DroppedRepliesAreNotStamped) {
  queue_.AppendTimedReply(1, payload::ResponseHeader{}, 16, 7, 1000);
  queue_.Clear();
  EXPECT_FALSE(queue_.has_unstamped_replies());
}

// A peer may ask for any size, even in its first request.
TEST_F(SendQueueTest, AbsurdSizesGiveTheSmallestMessage) {
  for (const int64_t target_bytes :
       {INT64_MIN, INT64_MIN + 1, int64_t{-1}, int64_t{0}}) {
    SendQueue queue;
    const int64_t reply_bytes = queue.Append(
        FrameKind::kReply, 1, payload::ResponseHeader{}, target_bytes);
    EXPECT_EQ(
        queue.Append(FrameKind::kRequest, 2, payload::RequestHeader{},
                     target_bytes),
        payload::LayOutMessage(payload::RequestHeader{}, 0).total_bytes());
    EXPECT_EQ(
        reply_bytes,
        payload::LayOutMessage(payload::ResponseHeader{}, 0).total_bytes());
    ASSERT_EQ(queue.Write(stream_), SendQueue::Outcome::kEmpty);
    std::string bytes = Read();
    ExpectFrame(bytes, 1, reply_bytes);
    EXPECT_EQ(DecodeFrameHeader(bytes.data()).call_id, 2);
  }
}

TEST_F(SendQueueTest, OneWriteIsBounded) {
  queue_.Append(FrameKind::kReply, 1, payload::ResponseHeader{}, 100 << 20);
  const int64_t before = queue_.queued_bytes();
  EXPECT_EQ(Write(), SendQueue::Outcome::kNotEmpty);
  EXPECT_LE(before - queue_.queued_bytes(), SendQueue::kMaxWriteBytes);
}

TEST_F(SendQueueTest, AFullSocketLeavesTheRest) {
  queue_.Append(FrameKind::kReply, 1, payload::ResponseHeader{}, 100 << 20);
  int64_t before;
  do {
    before = queue_.queued_bytes();
    ASSERT_EQ(Write(), SendQueue::Outcome::kNotEmpty);
  } while (queue_.queued_bytes() < before);
}

TEST_F(SendQueueTest, ABrokenSocketIsSaid) {
  close(ends_[1]);
  ends_[1] = dup(ends_[0]);
  queue_.Append(FrameKind::kReply, 1, payload::ResponseHeader{}, 16);
  EXPECT_EQ(Write(), SendQueue::Outcome::kBroken);
  EXPECT_EQ(errno, EPIPE);
  queue_.Clear();
  EXPECT_TRUE(queue_.empty());
}

// ---- Without copying --------------------------------------------------------

TEST(SendQueueWithoutCopyTest, PayloadsArriveAsTheyAre) {
  const auto listening = base::ListenAt("127.0.0.1:0");
  ASSERT_TRUE(listening.ok()) << listening.status();
  const auto address =
      ResolveAddress(absl::StrCat("127.0.0.1:", listening->port));
  const NetworkSettings settings = {.zero_copy = true};
  Stream stream(OpenSocket(AF_INET, settings));
  ASSERT_TRUE(ApplyNetworkSettings(settings, stream.fd()).ok());
  ASSERT_TRUE(BeginConnect(stream.fd(), address->front()));
  const base::FileDescriptor reader = AcceptConnection(listening->socket.get());
  ASSERT_TRUE(reader.is_open());

  // Neither payloads of less than is worth it, nor what precedes payloads.
  SendQueue queue(/*copies=*/false);
  const int64_t sizes[] = {16, 5000, 100'000, 3 << 20, 20'000};
  for (uint64_t id = 0; id < 50; ++id) {
    queue.Append(FrameKind::kRequest, id, payload::RequestHeader{},
                 sizes[id % 5]);
  }
  const auto total = static_cast<size_t>(queue.queued_bytes());
  std::string bytes;
  std::string piece(1 << 20, '\0');
  int64_t sends = 0;
  while (bytes.size() < total) {
    ASSERT_NE(queue.Write(stream), SendQueue::Outcome::kBroken);
    ZeroCopyReports reports;
    stream.TakeReports(reports);
    sends += reports.sends;
    pollfd ready = {.fd = reader.get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&ready, 1, /*timeout=*/20'000), 1);
    const ssize_t count = Receive(reader.get(), piece.data(), piece.size());
    ASSERT_GT(count, 0);
    bytes.append(piece, 0, count);
  }
  for (uint64_t id = 0; id < 50; ++id) ExpectFrame(bytes, id, sizes[id % 5]);
  EXPECT_EQ(bytes, "");
  EXPECT_GE(sends, 30);
}

}  // namespace
}  // namespace distbench::protocol
