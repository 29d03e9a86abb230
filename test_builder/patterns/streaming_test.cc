// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/testing/pattern_testing.h"

namespace distbench::test_builder {
namespace {

DistributedSystemDescription StreamingWith(const ValueMap& given) {
  const auto traffic = BuildPattern("streaming", given);
  EXPECT_TRUE(traffic.ok()) << traffic.status();
  return traffic->body;
}

int64_t StreamRequestBytes(const DistributedSystemDescription& body) {
  return body.payload_descriptions(0).size();
}

int64_t StreamResponseBytes(const DistributedSystemDescription& body) {
  return body.payload_descriptions(1).size();
}

TEST(StreamingTest, TheServerStreamsByDefault) {
  const auto body =
      StreamingWith({{"messages", "7"}, {"message_bytes", "300"}});
  const StreamSpec& stream = body.rpc_descriptions(0).stream();
  EXPECT_EQ(stream.server_messages(), 7);
  EXPECT_EQ(stream.server_interval_ns(), 20'000'000);
  EXPECT_FALSE(stream.has_client_messages());
  EXPECT_EQ(StreamRequestBytes(body), 1024);
  EXPECT_EQ(StreamResponseBytes(body), 300);
}

TEST(StreamingTest, AClientThatStreamsIsAnsweredAtTheEnd) {
  const auto body = StreamingWith({{"direction", "client"},
                                   {"messages", "7"},
                                   {"interval_us", "50"},
                                   {"message_bytes", "300"}});
  const StreamSpec& stream = body.rpc_descriptions(0).stream();
  EXPECT_EQ(stream.client_messages(), 7);
  EXPECT_EQ(stream.client_interval_ns(), 50'000);
  EXPECT_EQ(stream.response_starts(), "on_last_request");
  EXPECT_FALSE(stream.has_server_messages());
  EXPECT_EQ(StreamRequestBytes(body), 300);
  EXPECT_EQ(StreamResponseBytes(body), 1024);
}

TEST(StreamingTest, AnEchoAnswersByTheSameSize) {
  const auto body = StreamingWith(
      {{"direction", "echo"}, {"interval_us", "0"}, {"message_bytes", "300"}});
  const StreamSpec& stream = body.rpc_descriptions(0).stream();
  EXPECT_EQ(stream.client_messages(), 50);
  EXPECT_FALSE(stream.has_client_interval_ns());
  EXPECT_EQ(stream.response_starts(), "echo");
  EXPECT_EQ(StreamRequestBytes(body), 300);
  EXPECT_EQ(StreamResponseBytes(body), 300);
}

}  // namespace
}  // namespace distbench::test_builder
