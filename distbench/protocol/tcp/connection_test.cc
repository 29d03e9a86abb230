#include "distbench/protocol/tcp/connection.h"

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

// A message without its payload.
template <typename Header>
struct Message {
  Message(const Header& header, int64_t target_bytes) {
    const MessageLayout layout = LayOutMessage(header, target_bytes);
    head.resize(layout.head_bytes);
    WriteHead(header, layout, head.data());
    payload_bytes = layout.payload_bytes;
  }

  std::string head;
  int64_t payload_bytes = 0;
};

TEST(HeadReaderTest, HeadsThatDifferInOneThingAreToldApart) {
  HeadReader<RequestHeader> reader;
  for (const RequestHeader& header :
       {RequestHeader{}, RequestHeader{}, RequestHeader{.rpc_index = 1},
        RequestHeader{.server_instance = 1}, RequestHeader{.warmup = true},
        RequestHeader{.response_bytes = 5}, RequestHeader{.processing_ns = 5},
        RequestHeader{.trace_context = "trace"},
        RequestHeader{.trace_context = "other"}, RequestHeader{}}) {
    for (const int64_t bytes : {30, 30, 31, 1000}) {
      const Message<RequestHeader> message(header, bytes);
      const RequestHeader* read =
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
  HeadReader<ResponseHeader> reader;
  const ResponseHeader header{.error_message = "no such RPC"};
  // The same bytes at two addresses.
  const Message<ResponseHeader> messages[] = {{header, 100}, {header, 100}};
  for (const Message<ResponseHeader>& message : messages) {
    const ResponseHeader* read =
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
  HeadReader<ResponseHeader> reader;
  const Message<ResponseHeader> message(ResponseHeader{}, 100);
  EXPECT_NE(reader.Read(message.head, message.payload_bytes), nullptr);
  EXPECT_EQ(reader.Read(message.head, message.payload_bytes + 1), nullptr);
  EXPECT_NE(reader.Read(message.head, message.payload_bytes), nullptr);
}

TEST(HeadReaderTest, AMalformedHeadIsMalformedEachTime) {
  HeadReader<ResponseHeader> reader;
  const Message<ResponseHeader> good(ResponseHeader{.server_instance = 3}, 100);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reader.Read("\xff", 0), nullptr);
    const ResponseHeader* read = reader.Read(good.head, good.payload_bytes);
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(read->server_instance, 3);
  }
}

}  // namespace
}  // namespace distbench
