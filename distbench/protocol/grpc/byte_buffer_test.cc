#include "distbench/protocol/grpc/byte_buffer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"

namespace distbench {
namespace {

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
  const RequestHeader header{.rpc_index = 300, .response_bytes = 5};
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
    sent.Fill(ResponseHeader{.server_instance = 9, .error_message = error},
              5000);
    *received.get() = *sent.get();
    EXPECT_EQ(received.size_bytes(), 5000);
    ResponseHeader header;
    ASSERT_TRUE(received.Decode(header));
    EXPECT_EQ(header.server_instance, 9);
    EXPECT_EQ(header.error_message, error);
    received.Clear();
  }
}

TEST(IncomingByteBufferTest, NothingIsMalformed) {
  IncomingByteBuffer received;
  RequestHeader header;
  EXPECT_FALSE(received.Decode(header));
  EXPECT_EQ(received.size_bytes(), 0);
}

}  // namespace
}  // namespace distbench
