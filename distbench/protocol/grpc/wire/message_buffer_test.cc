#include "distbench/protocol/grpc/wire/message_buffer.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/slice.h>

#include <algorithm>
#include <string>
#include <vector>

#include "distbench/payload/payload_slab.h"
#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"

namespace distbench::protocol {
namespace {

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

std::string Flatten(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(slice.begin(), slice.end());
  }
  return bytes;
}

TEST(OutgoingByteBufferTest, IsRefilledWithMessagesOfEverySize) {
  OutgoingByteBuffer message;
  const payload::RequestHeader header{.rpc_index = 300, .response_bytes = 5};
  for (int64_t size : {20, 5, 23, 24, 100, 1 << 20, (3 << 20) + 7, 16}) {
    const int64_t total = message.Fill(header, size);
    const std::string bytes = Flatten(*message.get());
    EXPECT_EQ(total, std::max<int64_t>(size, 7));
    EXPECT_EQ(bytes.size(), total);
    GenericRequestResponse parsed;
    ASSERT_TRUE(parsed.ParseFromString(bytes)) << size;
    EXPECT_EQ(parsed.rpc_index(), 300);
    EXPECT_EQ(parsed.payload().find_first_not_of('D'), std::string::npos);
  }
}

TEST(IncomingByteBufferTest, ReadsHeadersOneAfterTheOther) {
  OutgoingByteBuffer sent;
  IncomingByteBuffer received;
  for (const std::string& error : {std::string(100, 'e'), std::string("e")}) {
    sent.Fill(
        payload::ResponseHeader{.server_instance = 9, .error_message = error},
        5000);
    *received.get() = *sent.get();
    EXPECT_EQ(received.size_bytes(), 5000);
    payload::ResponseHeader header;
    ASSERT_TRUE(received.Decode(header));
    EXPECT_EQ(header.server_instance, 9);
    EXPECT_EQ(header.error_message, error);
    received.Clear();
  }
}

TEST(IncomingByteBufferTest, NothingIsMalformed) {
  IncomingByteBuffer received;
  payload::RequestHeader header;
  EXPECT_FALSE(received.Decode(header));
  EXPECT_EQ(received.size_bytes(), 0);
}

}  // namespace
}  // namespace distbench::protocol
