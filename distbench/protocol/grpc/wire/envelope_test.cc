#include "distbench/protocol/grpc/wire/envelope.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
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

}  // namespace
}  // namespace distbench::protocol
