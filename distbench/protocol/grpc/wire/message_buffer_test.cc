// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/wire/message_buffer.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "distbench/payload/payload_slab.h"
#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"

namespace distbench::protocol {
namespace {

constexpr uint64_t kSequence = 0xfedcba9876543210;

std::string Serialised(int payload_bytes) {
  StreamMessage message;
  message.set_sequence(kSequence);
  message.mutable_message()->set_payload(std::string(payload_bytes, 'D'));
  return message.SerializeAsString();
}

TEST(EnvelopeTest, IsThatOfTheProto) {
  for (int payload_bytes : {0, 100, 1000, 100'000}) {
    const std::string expected = Serialised(payload_bytes);
    StreamMessage parsed;
    ASSERT_TRUE(parsed.ParseFromString(expected));
    char out[kMaxEnvelopeBytes];
    const uint64_t message_bytes = parsed.message().ByteSizeLong();
    const size_t size = WriteEnvelope(
        {.sequence = kSequence, .message_bytes = message_bytes}, out);
    EXPECT_EQ(std::string(out, size) + parsed.message().SerializeAsString(),
              expected);
  }
}

TEST(EnvelopeTest, IsReadFromSlicesOfAnySize) {
  const std::string bytes = Serialised(300);
  for (size_t piece = 1; piece < 30; ++piece) {
    std::vector<absl::string_view> slices;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      slices.push_back(absl::string_view(bytes).substr(at, piece));
    }
    const auto envelope = TakeEnvelope(absl::MakeSpan(slices));
    ASSERT_TRUE(envelope.has_value()) << piece;
    EXPECT_EQ(envelope->sequence, kSequence);
    GenericRequestResponse message;
    ASSERT_TRUE(message.ParseFromString(absl::StrJoin(slices, "")));
    EXPECT_EQ(message.payload().size(), 300);
  }
}

TEST(EnvelopeTest, OtherSizesAreMalformed) {
  const std::string bytes = Serialised(300);
  for (const std::string& wrong :
       {bytes + "x", bytes.substr(0, bytes.size() - 1), bytes.substr(0, 11),
        bytes.substr(0, 5), std::string(), std::string(20, '\xff')}) {
    std::vector<absl::string_view> slices = {wrong};
    EXPECT_FALSE(TakeEnvelope(absl::MakeSpan(slices)).has_value());
  }
}

std::string Flatten(grpc_byte_buffer* buffer) {
  grpc_byte_buffer_reader reader;
  grpc_byte_buffer_reader_init(&reader, buffer);
  const grpc_slice all = grpc_byte_buffer_reader_readall(&reader);
  std::string bytes(reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(all)),
                    GRPC_SLICE_LENGTH(all));
  grpc_slice_unref(all);
  grpc_byte_buffer_reader_destroy(&reader);
  return bytes;
}

TEST(OutgoingMessageTest, IsRefilledWithMessagesOfEverySize) {
  OutgoingMessage message;
  const payload::RequestHeader header{.rpc_index = 300, .response_bytes = 5};
  for (int64_t size : {20, 5, 23, 24, 100, 1 << 20, (3 << 20) + 7, 16}) {
    const int64_t total = message.Fill(header, size);
    const std::string bytes = Flatten(message.get());
    EXPECT_EQ(total, std::max<int64_t>(size, 7));
    EXPECT_EQ(bytes.size(), total);
    GenericRequestResponse parsed;
    ASSERT_TRUE(parsed.ParseFromString(bytes)) << size;
    EXPECT_EQ(parsed.rpc_index(), 300);
    EXPECT_EQ(parsed.payload().find_first_not_of('D'), std::string::npos);
  }
}

TEST(OutgoingMessageTest, PayloadsAreReferredTo) {
  OutgoingMessage message;
  message.Fill(payload::ResponseHeader{.server_instance = 1}, (5 << 19) + 100);
  const grpc_slice_buffer& slices = message.get()->data.raw.slice_buffer;
  ASSERT_EQ(slices.count, 4);  // the head, and the slab two and a half times
  for (size_t i = 1; i < slices.count; ++i) {
    EXPECT_EQ(GRPC_SLICE_START_PTR(slices.slices[i]),
              reinterpret_cast<const uint8_t*>(payload::PayloadSlab().data()));
  }
}

TEST(IncomingMessageTest, ReadsHeadersFromSlices) {
  OutgoingMessage sent;
  const std::string error(100, 'e');
  sent.Fill(
      payload::ResponseHeader{.server_instance = 9, .error_message = error},
      5000);
  IncomingMessage received;
  *received.slot() = grpc_byte_buffer_copy(sent.get());
  EXPECT_EQ(received.size_bytes(), 5000);
  payload::ResponseHeader header;
  ASSERT_TRUE(received.Decode(header));
  EXPECT_EQ(header.server_instance, 9);
  EXPECT_EQ(header.error_message, error);
}

TEST(IncomingMessageTest, NothingIsMalformed) {
  IncomingMessage received;
  payload::RequestHeader header;
  EXPECT_FALSE(received.Decode(header));
  EXPECT_EQ(received.size_bytes(), 0);
}

TEST(IncomingMessageTest, ReadsHeadersOneAfterTheOther) {
  OutgoingMessage sent;
  IncomingMessage received;
  for (const std::string& error : {std::string(100, 'e'), std::string("e")}) {
    sent.Fill(
        payload::ResponseHeader{.server_instance = 9, .error_message = error},
        5000);
    *received.slot() = grpc_byte_buffer_copy(sent.get());
    EXPECT_EQ(received.size_bytes(), 5000);
    payload::ResponseHeader header;
    ASSERT_TRUE(received.Decode(header));
    EXPECT_EQ(header.server_instance, 9);
    EXPECT_EQ(header.error_message, error);
    received.Clear();
  }
}

}  // namespace
}  // namespace distbench::protocol
