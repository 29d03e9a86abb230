#include "distbench/protocol/tcp/connection.h"

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "gtest/gtest.h"

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

}  // namespace
}  // namespace distbench::protocol
